from __future__ import annotations

import pytest

from streamgauge.families.compare.foretold import too_few_repetitions
from streamgauge.families.compare.section import Comparison


def comparison(**fields: object) -> Comparison:
    content = {"lengths": [10, 100, 1000, 10_000], "messages": [10, 100, 1000, 10_000, 100_000], **fields}
    return Comparison.model_validate(content)


def test_too_few_repetitions_are_said_with_the_number_that_could() -> None:
    [said] = too_few_repetitions(comparison(repeat=8))
    assert "8 repetitions cannot show a difference in 80 comparisons" in said
    assert "--repeat 12 could, or --until-decided" in said


@pytest.mark.parametrize("fields", [{"repeat": 12}, {"repeat": 8, "until_decided": True}])
def test_what_may_show_a_difference_is_not_warned_of(fields: dict[str, object]) -> None:
    assert too_few_repetitions(comparison(**fields)) == ()
