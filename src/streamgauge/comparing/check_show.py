"""What there is to see of a check, and the same as JUnit XML, which every CI knows how to show."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from streamgauge.comparing.check import CheckDocument, Expected
from streamgauge.comparing.show import changed_table
from streamgauge.core.outcomes import Outcome
from streamgauge.report.cause_words import advice_text, cause_text
from streamgauge.report.outcome_show import figure_text, outcome_interval_text
from streamgauge.report.shown import Badge, Section, Shown, Verdict
from streamgauge.report.shown_tables import Cell, Column, Table, row
from streamgauge.report.verdict_show import outcome_tone

CHECK_WORDS = {Outcome.MET: "pass", Outcome.MISSED: "fail", Outcome.NOT_DECIDABLE: "inconclusive"}


def show_check(document: CheckDocument) -> Shown:
    words, tone = CHECK_WORDS[document.outcome], outcome_tone(document.outcome)
    lines = [
        f"{CHECK_WORDS[each.outcome.outcome]}: {each.case}: {_line(each)}"
        for each in document.expected
        if each.outcome.outcome is not Outcome.MET
    ]
    sections = [Section("What was expected", [_table(document)])]
    if document.environment or document.settings:
        tables = [
            changed_table("Environment", document.environment),
            changed_table("Settings", document.settings),
        ]
        sections.insert(0, Section("Not as in the baseline", tables))
    return Shown(
        kicker="streamgauge check",
        title=f"{document.name}: {words}",
        run=document.run,
        badge=Badge(words, tone),
        verdicts=[Verdict("Check", words, tone, lines)],
        facts=[],
        sections=sections,
        about=[f"Baseline: {', '.join(document.baseline)}"] if document.baseline else [],
    )


def junit_xml(document: CheckDocument) -> str:
    """A test for each expectation: missed is a failure; what nobody can say is an error, and no pass."""
    found = [each.outcome.outcome for each in document.expected]
    counts = {
        "tests": len(found),
        "failures": found.count(Outcome.MISSED),
        "errors": found.count(Outcome.NOT_DECIDABLE),
    }
    attributes = {name: str(count) for name, count in counts.items()}
    suites = Xml.Element("testsuites", {"name": "streamgauge check", **attributes})
    suite = Xml.SubElement(suites, "testsuite", {"name": document.run, **attributes})
    for each in document.expected:
        against = " of the baseline" if each.is_against_baseline else ""
        name = f"{each.outcome.objective}{against}"
        test = Xml.SubElement(suite, "testcase", {"classname": f"{document.name}.{each.case}", "name": name})
        kind = {Outcome.MISSED: "failure", Outcome.NOT_DECIDABLE: "error"}.get(each.outcome.outcome)
        if kind is not None:
            words = _xml_text(_line(each))
            Xml.SubElement(test, kind, {"message": words, "type": each.outcome.outcome.value})
    for element in suites.iter():
        element.attrib = {name: _xml_text(value) for name, value in element.attrib.items()}
    Xml.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(suites, "unicode") + "\n"


def _table(document: CheckDocument) -> Table:
    names = ("case", "objective", "outcome", "figure", "interval", "cause")
    rows = [
        row(
            each.case,
            f"{each.outcome.objective} of the baseline"
            if each.is_against_baseline
            else each.outcome.objective,
            Cell(CHECK_WORDS[each.outcome.outcome], outcome_tone(each.outcome.outcome), is_pill=True),
            figure_text(each.outcome),
            outcome_interval_text(each.outcome),
            "; ".join(cause_text(cause) for cause in each.outcome.causes) or None,
        )
        for each in document.expected
    ]
    return Table("Case by case", [Column(name) for name in names], rows, name="expectations")


def _line(each: Expected) -> str:
    """What was asked, what it was, why nobody can say, and what to do."""
    outcome = each.outcome
    parts = [outcome.objective]
    if outcome.figure is not None and outcome.unit:
        parts.append(f"it was {figure_text(outcome)}")
    if interval := outcome_interval_text(outcome):
        parts.append(f"interval {interval}")
    for cause in outcome.causes:
        advice = advice_text(cause)
        parts.append(cause_text(cause) + (f" ({advice})" if advice else ""))
    return "; ".join(parts)


def _xml_text(text: str) -> str:
    """XML has no place for most control characters."""
    return "".join(sign if sign >= " " or sign in "\t\n" else " " for sign in text)
