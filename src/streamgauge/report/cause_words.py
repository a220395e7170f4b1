"""Words for verdicts and their causes: made here and nowhere else, last, and nothing reads them back."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from streamgauge.core.outcomes import Outcome
from streamgauge.core.units import format_bytes
from streamgauge.core.verdicts import Cause, CauseCode, Integrity, Limit, Validity
from streamgauge.report.quantities import count_text, digits_text, ms_text, plural, rate_per_s_text

Figures = Mapping[str, float | int]

INTEGRITY_WORDS = {
    Integrity.OK: "all accounted for",
    Integrity.LOST: "messages lost",
    Integrity.CORRUPT: "messages corrupt",
    Integrity.FAILED: "messages failed",
    Integrity.NO_OUTCOME: "messages without outcome",
    Integrity.UNEXPECTED: "unexpected records",
    Integrity.INCONSISTENT: "inconsistent log",
    Integrity.DUPLICATE: "duplicates",
    Integrity.OUT_OF_ORDER: "out of order",
    Integrity.NOT_CHECKED: "not checked",
    Integrity.NOT_MEASURED: "not measured",
}

VALIDITY_WORDS = {
    Validity.VALID: "valid",
    Validity.INVALID: "do not quote",
    Validity.NOT_MEASURED: "not measured",
}

OUTCOME_WORDS = {
    Outcome.MET: "met",
    Outcome.MISSED: "missed",
    Outcome.NOT_DECIDABLE: "not decidable",
}

LIMIT_WORDS = {
    Limit.CLIENT_CPU: "client CPU",
    Limit.GENERATOR: "load generator",
    Limit.BROKER: "broker",
    Limit.MACHINE_CPU: "machine CPU",
    Limit.NONE: "none found",
}

_SEED_FAULTS = (
    "Preset seed: the settings of the benchmark this comparison follows, with their known faults. "
    "fetch_min_bytes of 100,000 makes a consumer of less wait for the broker, 500 ms by default: such cells "
    "measure that wait and no library. A linger of 100 ms is cut short by the flush at the end of a "
    "test. acks=1 without idempotence promises less than either library's own defaults. "
    "Use --preset fair for a verdict on the libraries."
)


def cause_text(cause: Cause) -> str:
    """One line."""
    return _SAID[cause.code](cause)


def advice_text(cause: Cause) -> str | None:
    """What to do about it; None: nothing can be said."""
    return _ADVICE.get(cause.code)


def limit_text(limit: Limit | None, cause: Cause | None) -> str:
    if limit is None and cause is None:
        return "not known"
    name = "not known" if limit is None else LIMIT_WORDS[limit]
    return name if cause is None else f"{name} – {cause_text(cause)}"


def _counted(what: str) -> Callable[[Cause], str]:
    return lambda cause: f"{count_text(int(cause.figures['message_count']))} {what}"


def _plain(words: str) -> Callable[[Cause], str]:
    return lambda _: words


def _with_figures(words: str) -> Callable[[Cause], str]:
    """What a bottleneck's rule says, and all the figures it had."""

    def said(cause: Cause) -> str:
        found = cause.figures
        told = [form(found) for name, form in _BOTTLENECK_FIGURES.items() if name in found]
        return f"{words}: {', '.join(told)}" if told else words

    return said


_BOTTLENECK_FIGURES: dict[str, Callable[[Figures], str]] = {
    "lag_p99_ms": lambda f: f"schedule lag p99 {ms_text(f['lag_p99_ms'])}",
    "ack_p50_ms": lambda f: f"ack p50 {ms_text(f['ack_p50_ms'])}",
    "busiest_producer_cores": lambda f: f"busiest producer {f['busiest_producer_cores']:.2f} cores",
    "busiest_consumer_cores": lambda f: f"busiest consumer {f['busiest_consumer_cores']:.2f} cores",
    "broker_cores": lambda f: f"broker {f['broker_cores']:.2f} of {f['broker_host_core_count']} cores",
    "machine_busy_share": lambda f: f"machine {100 * f['machine_busy_share']:.0f}% busy",
}


def _incomplete(cause: Cause) -> str:
    found = cause.figures
    if "planned_count" in found and found["measured_count"] < found["planned_count"]:
        said = f"only {count_text(int(found['measured_count']))} of {count_text(int(found['planned_count']))}"
        return f"{said} were measured" + (f": {cause.text}" if cause.text else "")
    return "it did not finish"


def _fault_not_as_planned(cause: Cause) -> str:
    count = plural(int(cause.figures["fault_count"]), "fault")
    return f"{count} did not go as planned: it measured something else than the workload says"


def _fault_during_measuring(cause: Cause) -> str:
    count = plural(int(cause.figures["fault_count"]), "fault")
    return f"fault during measuring: {count} planned; quote what they cost, but no steady figure"


def _not_at_rest(cause: Cause) -> str:
    is_rate = "before_per_s" in cause.figures
    what, form, unit = (
        ("rate", rate_per_s_text, "per_s") if is_rate else ("median of a second", ms_text, "ms")
    )
    before, after = cause.figures[f"before_{unit}"], cause.figures[f"after_{unit}"]
    way = "rose" if after > before else "fell"
    second = cause.figures.get("change_second_count")
    when = "" if second is None else f" after second {second}"
    return f"not at rest: the {what} {way} from {form(before)} to {form(after)}{when}"


def _rate_missed(cause: Cause) -> str:
    sent, wanted = cause.figures["sent_per_s"], cause.figures["wanted_per_s"]
    share = f"{100 * sent / wanted:.1f}%"
    return f"missed its rate: {rate_per_s_text(sent)} of {rate_per_s_text(wanted)} ({share})"


def _generator_late(cause: Cause) -> str:
    lag, latency = cause.figures["lag_p99_ms"], cause.figures["latency_p99_ms"]
    said = f"sent late: schedule lag p99 {ms_text(lag)} of a latency p99 of {ms_text(latency)}"
    floor = cause.figures.get("noise_floor_p99_ms")
    if floor is None:
        return f"{said}; the machine's own noise floor is not known"
    if cause.about == "machine":
        return f"{said}; the machine itself is the cause: a bare pacer beside it was {ms_text(floor)} late"
    return f"{said}; it is the generator: a bare pacer beside it was {ms_text(floor)} late"


def _no_cpu_left(cause: Cause) -> str:
    told = []
    if "machine_busy_share" in cause.figures:
        told.append(f"machine {100 * cause.figures['machine_busy_share']:.0f}% busy")
    if "busiest_client_cores" in cause.figures:
        told.append(f"busiest client {cause.figures['busiest_client_cores']:.2f} cores")
    return f"no CPU left: {', '.join(told)}" if told else "no CPU left"


def _clock_error(cause: Cause) -> str:
    told = []
    if "clock_error_ms" in cause.figures:
        median = cause.figures.get("latency_p50_ms")
        beside = "" if median is None else f", with a median latency of {ms_text(median)}"
        told.append(f"clocks may differ by {ms_text(cause.figures['clock_error_ms'])}{beside}")
    if "below_zero_count" in cause.figures:
        told.append(
            f"{count_text(int(cause.figures['below_zero_count']))} latencies below zero, which are kept"
        )
    return "; ".join(told)


def _clock_jumped(cause: Cause) -> str:
    told = []
    if "jump_ms" in cause.figures:
        told.append(f"the clock of {cause.about} jumped by {ms_text(cause.figures['jump_ms'])}")
    if "wall_jump_ms" in cause.figures:
        whose = "its wall clock" if told else f"the wall clock of {cause.about}"
        told.append(
            f"{whose} was moved by {ms_text(cause.figures['wall_jump_ms'])}, and broker times with it"
        )
    return "; ".join(told)


def _too_few(cause: Cause) -> str:
    count, needed = (int(cause.figures[name]) for name in ("message_count", "needed_count"))
    what = f"too few messages for a {cause.about or 'p99'}"
    return f"{what}: {count_text(count)}, but it needs {count_text(needed)}"


def _never_settled(cause: Cause) -> str:
    # Between runs it is about a side, of which no count is told.
    if cause.about is None or "message_count" not in cause.figures:
        return (
            "never at rest: latency, rate or CPU still changed at the end, or when the warm-up hit its limit"
        )
    who = cause.about.upper() if len(cause.about) == 1 else f"the {cause.about}"
    return (
        f"{who} was never at rest: the time of a block still changed when its warm-up hit its limit, "
        f"after {count_text(int(cause.figures['message_count']))} messages"
    )


def _too_short(cause: Cause) -> str:
    count, needed = (int(cause.figures[name]) for name in ("second_count", "needed_count"))
    return f"too short to tell whether it was at rest: {count} s were measured, but it takes {needed} s"


def _trials_failed(cause: Cause) -> str:
    found = cause.figures
    number = int(found["first_repetition_count"])
    where = "warm-up" if number == 0 else f"repetition {number}"
    return (
        f"{found['failed_count']} of {found['trial_count']} trials failed; the first: "
        f"{cause.about}, {where}: {cause.text}"
    )


def _control_failed(cause: Cause) -> str:
    found = cause.figures
    if "tainted_count" in found:
        return (
            f"The A/A control failed in {found['tainted_count']} of {found['comparison_count']} comparisons: "
            "there A was found to differ from itself, so something other than the library was measured. "
            "Their verdicts are marked."
        )
    return "the control found that A differs from itself"


def _too_few_pairs(cause: Cause) -> str:
    found = cause.figures
    return (
        f"{found['pair_count']} pairs cannot show a difference among {found['comparison_count']} "
        f"comparisons; it takes {found['needed_count']}"
    )


def _of_side(words: Callable[[Figures], str]) -> Callable[[Cause], str]:
    return lambda cause: f"{(cause.about or '').upper()}: {words(cause.figures)}"


def _extremes(found: Figures) -> str:
    if "max_share" in found:
        return f"the maximum is {100 * found['max_share']:.0f}% above the mean"
    return f"the minimum is {-100 * found['min_share']:.0f}% below the mean"


def _waited(where: str) -> Callable[[Cause], str]:
    def said(cause: Cause) -> str:
        found = cause.figures
        to_ack = f"to the ack {ms_text(found['acked_p99_ms'])}, " if "acked_p99_ms" in found else ""
        return (
            f"the schedule was held and no client was out of CPU, so messages waited {where}: p99 from "
            f"sending {to_ack}to the consumer {ms_text(found['received_p99_ms'])}, "
            f"schedule lag p99 {ms_text(found.get('lag_p99_ms'))}"
        )

    return said


def _compressed(cause: Cause) -> str:
    found = cause.figures
    # Earlier versions called it what was reached.
    ratio = found["sample_ratio"] if "sample_ratio" in found else found["reached_ratio"]
    wanted = f"; {found['asked_ratio']:g} was requested" if "asked_ratio" in found else ""
    return (
        f"{cause.text} compresses a sample of these messages, as one full batch, by a ratio of {ratio:g}"
        f"{wanted}; smaller batches reach less"
    )


def _other_tool(cause: Cause) -> str:
    who = cause.text or "another tool"
    return f"measured by {who}, not by us: we cannot tell whether its figures may be quoted"


def _told(cause: Cause) -> str:
    return cause.text or ""


_SAID: dict[CauseCode, Callable[[Cause], str]] = {
    CauseCode.LOST_WRITE: _counted("acked messages lost, although later ones in their partition arrived"),
    CauseCode.UNSEEN: _counted("acked messages not seen, nor anything after them in their partition"),
    CauseCode.CUT_BACK: _counted("acked messages gone from the log, which was cut back"),
    CauseCode.NOT_ARRIVED: _counted("messages, sent without delivery reports, did not arrive"),
    CauseCode.CORRUPT: _counted("corrupt records received"),
    CauseCode.FAILED: _counted("messages failed to be delivered"),
    CauseCode.NO_OUTCOME: _counted("messages without outcome: neither acked, nor failed, nor received"),
    CauseCode.UNEXPECTED: _counted("unexpected records received: not sent by this case"),
    CauseCode.ABORTED_READ: _counted("messages read although their transaction was aborted"),
    CauseCode.INCONSISTENT_OFFSETS: _counted("times an offset had two messages, or a message another offset"),
    CauseCode.DUPLICATE: _counted("duplicate copies received"),
    CauseCode.OUT_OF_ORDER: _counted("messages received out of order"),
    CauseCode.MISSING: _counted("messages missing"),
    CauseCode.TRIALS_FAILED: _trials_failed,
    CauseCode.FAULT_NOT_AS_PLANNED: _fault_not_as_planned,
    CauseCode.FAULT_DURING_MEASURING: _fault_during_measuring,
    CauseCode.NOT_AT_REST: _not_at_rest,
    CauseCode.NEVER_SETTLED: _never_settled,
    CauseCode.TOO_SHORT: _too_short,
    CauseCode.RATE_MISSED: _rate_missed,
    CauseCode.GENERATOR_LATE: _generator_late,
    CauseCode.NO_CPU_LEFT: _no_cpu_left,
    CauseCode.CLOCK_ERROR: _clock_error,
    CauseCode.CLOCK_JUMPED: _clock_jumped,
    CauseCode.HOST_SILENT: lambda c: (
        f"{c.about} was cut off: no answer from the launcher for {ms_text(c.figures['silent_ms'])}"
    ),
    CauseCode.TOO_FEW_MESSAGES: _too_few,
    CauseCode.SWAPPED: lambda c: f"the machine swapped: {format_bytes(c.figures['swapped_bytes'])}",
    CauseCode.THROTTLED: lambda c: (
        f"the container's CPU was throttled {c.figures['throttled_count']:g} times"
    ),
    CauseCode.INCOMPLETE: _incomplete,
    CauseCode.CONTROL_FAILED: _control_failed,
    CauseCode.TOO_FEW_PAIRS: _too_few_pairs,
    CauseCode.MEASURES_THE_WAIT: lambda c: (
        f"less than fetch_min_bytes ({int(c.figures['fetch_min_bytes']):,}) to read: this measures how long "
        "a broker waits"
    ),
    CauseCode.OTHER_TOOL: _other_tool,
    CauseCode.BOUND_IN_INTERVAL: lambda c: (
        f"the bound lies within the interval, {digits_text(c.figures['low'])} to "
        f"{digits_text(c.figures['high'])}"
    ),
    CauseCode.NO_ONE_RATE: _plain("there is no single rate to take a share of"),
    CauseCode.NOT_LOOKED_FOR: _plain("not checked: this needs consumers, or delivery reports"),
    CauseCode.NO_REPEATS: _plain("one run of each side does not show how certain this figure is"),
    CauseCode.NOT_ABOVE_ZERO: _plain("it is not above zero, so there is no ratio"),
    CauseCode.NO_SUCH_CASE: _plain("the baseline has no case with these settings"),
    CauseCode.CASE_GONE: _plain("the baseline has this case, and the run has none with its settings"),
    CauseCode.FEW_REPETITIONS: _of_side(
        lambda f: f"only {f['repetition_count']} repetitions; at least {f['advised_count']} are advised"
    ),
    CauseCode.SPREAD: _of_side(lambda f: f"SD is {100 * f['sd_share']:.0f}% of the mean"),
    CauseCode.EXTREMES: _of_side(_extremes),
    CauseCode.TWO_HUMPS: _of_side(lambda _: "the times have two humps: compare medians, not means"),
    CauseCode.PRODUCER_OUT_OF_CPU: _with_figures("a producer had no CPU left"),
    CauseCode.CONSUMER_OUT_OF_CPU: _with_figures("a consumer had no CPU left and fell behind"),
    CauseCode.MACHINE_OUT_OF_CPU: _with_figures("a machine had no CPU left"),
    CauseCode.BROKER_OUT_OF_CPU: _with_figures("a broker had no CPU left"),
    CauseCode.SLOW_ACKS: _with_figures("acks were slow while clients had CPU left"),
    CauseCode.SCHEDULE_NOT_HELD: _with_figures("the schedule was not held, and nothing else was busy"),
    CauseCode.NOTHING_MEASURED: _plain("nothing was measured"),
    CauseCode.ROLLED_UP: _plain("most messages were rolled up: how certain this is needs them one by one"),
    CauseCode.LOAD_HELD: _with_figures("the load was held"),
    CauseCode.NO_CPU_FIGURES: _with_figures("not known, because there are no CPU figures"),
    CauseCode.NOTHING_SATURATED: _with_figures("nothing was saturated"),
    CauseCode.WAITED_BEHIND_PRODUCER: _waited("behind the producer"),
    CauseCode.WAITED_BEHIND_ACK: _waited("between their ack and the consumer"),
    CauseCode.NO_STEP_MISSED: _plain("no step missed an objective"),
    CauseCode.STEP_NOT_KNOWN: _plain("nothing is known about the step that missed"),
    CauseCode.RECORDED: _told,
    CauseCode.SKIPPED: _told,
    CauseCode.PLANNED: _told,
    CauseCode.UNACKED: _counted("messages neither acked nor failed"),
    CauseCode.BROKER_TIME_IS_CREATE_TIME: _plain(
        "broker time is the client's create time, not the broker's append time"
    ),
    CauseCode.NO_DELIVERY_REPORTS: _plain("delivery reports were off: acks and failures are not known"),
    CauseCode.NO_CONSUMERS: _plain("receipt not checked: no consumers"),
    CauseCode.COMPRESSED: _compressed,
    CauseCode.ENGINES_DIFFER: _plain(
        "ENGINES DIFFER: one library's loop runs in the JVM, the other's in Python. This sets a "
        "transport against a Python application; it does not compare two libraries as used from Python."
    ),
    CauseCode.SETTINGS_DIFFER: lambda c: f"A setting is not the same on both sides: {c.text}.",
    CauseCode.SEED_PRESET: _plain(_SEED_FAULTS),
    CauseCode.SHARED_PROCESS: _plain(
        "All libraries share one process: threads of one may disturb the other."
    ),
    CauseCode.BURSTS: lambda c: (
        f"Bursts of {c.figures['message_count']} messages with pauses of {digits_text(c.figures['pause_s'])} "
        "s: pauses are not counted, but a library may work in them."
    ),
    CauseCode.NO_ACKS: _plain(
        "acks=0: no broker confirms a message, so none counts as acknowledged; a message counts as "
        "produced when it was sent, and only a consumer can tell whether it arrived."
    ),
    CauseCode.MEASURES_ITSELF: _plain(
        "no system was measured here: the latency is what sending, receiving and recording cost, so sending "
        "late is part of it"
    ),
    CauseCode.VALUES_NOT_CHECKED: _plain(
        "Values were not checked while consuming; every message was counted by its key."
    ),
}

_ADVICE = {
    CauseCode.NOT_AT_REST: "lengthen the warm-up, or lower the rate until it settles",
    CauseCode.NEVER_SETTLED: "raise --warm-up-limit, lower the rate, or stop other programs on this machine",
    CauseCode.TOO_SHORT: "measure longer, or let it warm up until it is at rest (auto)",
    CauseCode.FAULT_NOT_AS_PLANNED: "see the problem of each fault, and run it again",
    CauseCode.FAULT_DURING_MEASURING: "quote what the faults cost; for steady figures, run it without them",
    CauseCode.RATE_MISSED: "lower the rate, or add producers",
    CauseCode.GENERATOR_LATE: "lower the rate, stop other work on this machine, or set load.precedence",
    CauseCode.NO_CPU_LEFT: "lower the rate, or run the clients on separate hosts",
    CauseCode.CLOCK_ERROR: "run producers and consumers on one host, or use hosts that are closer together",
    CauseCode.CLOCK_JUMPED: "do not set these hosts' clocks during a run; slewing them is fine",
    CauseCode.HOST_SILENT: "check the network between this host and the launcher",
    CauseCode.TOO_FEW_MESSAGES: "measure longer",
    CauseCode.BOUND_IN_INTERVAL: "measure longer, or repeat the run",
    CauseCode.NO_ONE_RATE: "give the bound in messages per second",
    CauseCode.NO_REPEATS: "give two runs of each side, separated by a comma",
    CauseCode.NO_SUCH_CASE: "run the same workload, or choose another baseline",
    CauseCode.CASE_GONE: "run the same workload, or choose another baseline",
    CauseCode.SWAPPED: "give the machine more memory, or run fewer programs on it",
    CauseCode.THROTTLED: "raise the container's CPU limit",
    CauseCode.INCOMPLETE: "run it to the end",
    CauseCode.CONTROL_FAILED: "run it again on a quiet machine",
    CauseCode.TOO_FEW_PAIRS: "raise --repeat",
    CauseCode.MEASURES_THE_WAIT: "use --preset fair",
}
