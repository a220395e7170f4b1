"""A comparison as it is to be run: cells, and in each of them who has a turn when.

Every repetition is a round in which A, B and the control (A's target once more) have a turn each. Two rounds
mirror each other, and every other round begins with the next one, so that over six rounds nobody has a
better place: A B C, C B A, B C A, A C B, C A B, B A C. Of these, A and B alone make ABBA BAAB ABBA. Rounds
that are added until a verdict is there go on in that order, six at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from streamgauge.core.errors import BadInput
from streamgauge.families.compare.section import Comparison
from streamgauge.spec.model import SpecModel
from streamgauge.spec.target import Target

Side = Literal["a", "b", "control"]
SIDES: tuple[Side, ...] = ("a", "b", "control")

Temperature = Literal["cold", "warm"]
TEMPERATURES: tuple[Temperature, ...] = ("cold", "warm")

WARM_UP = -1
"""The repetition that is not counted."""

ROUNDS_ADDED = 6
"""At a time, to a cell that is open: in six rounds everybody has every place equally often."""

_LONGEST_TOPIC = 249
_MOST_ROUNDS = 1_000_000
"""Of a cell; no time limit lets it have as many, so that names of topics can be checked beforehand."""


@dataclass(frozen=True)
class Cell:
    """One length and one number of messages."""

    number: int
    length: int
    messages: int


@dataclass(frozen=True)
class Turn:
    """What one side does in one repetition: a cold test and a warm one, with a topic for each."""

    cell: Cell
    repetition: int
    position: int
    """Its place among all turns of the cell."""
    side: Side
    topics: dict[Temperature, str]


class PlannedComparison(SpecModel):
    """Two targets, and what they are put through."""

    a: Target
    b: Target
    comparison: Comparison
    topic_prefix: str = ""
    """Of every topic; plans from before runs had topics of their own lack it, and are run no more."""

    def target_of(self, side: Side) -> Target:
        return self.b if side == "b" else self.a

    @property
    def control_name(self) -> str:
        return f"{self.a.name}-control"

    @property
    def cells(self) -> list[Cell]:
        """Messages outside, lengths inside, as the tables have them."""
        return [
            Cell(m * len(self.comparison.lengths) + n, length, messages)
            for m, messages in enumerate(self.comparison.messages)
            for n, length in enumerate(self.comparison.lengths)
        ]

    def rounds(self, cell: Cell) -> Iterator[list[Turn]]:
        """The warm-up round, then one round a repetition."""
        return self._rounds(cell, range(WARM_UP, self.comparison.repeat))

    def added_rounds(self, cell: Cell, rounds_before: int) -> Iterator[list[Turn]]:
        """Some more, after so many that count."""
        return self._rounds(cell, range(rounds_before, rounds_before + ROUNDS_ADDED))

    def check_topics(self) -> None:
        """Every topic has a legal name, or it is said now."""
        last = _MOST_ROUNDS if self.comparison.until_decided else self.comparison.repeat - 1
        for cell in self.cells:
            list(self._rounds(cell, (last,)))

    def _rounds(self, cell: Cell, repetitions: Iterable[int]) -> Iterator[list[Turn]]:
        for repetition in repetitions:
            first = len(SIDES) * (repetition - WARM_UP)
            yield [
                Turn(cell, repetition, first + place, side, self._topics(cell, repetition, side))
                for place, side in enumerate(order(max(repetition, 0)))
            ]

    def _topics(self, cell: Cell, repetition: int, side: Side) -> dict[Temperature, str]:
        """Tests of one side and length are numbered through, so that every one has a topic of its own."""
        row, rows = cell.number // len(self.comparison.lengths), len(self.comparison.messages)
        added = repetition - self.comparison.repeat
        if added < 0:
            test = row * (self.comparison.repeat + 1) + repetition - WARM_UP
        else:
            # Behind all that were planned: nobody knows which cell is added to, and how often.
            test = rows * (self.comparison.repeat + 1) + added * rows + row
        first = len(TEMPERATURES) * test
        return {
            temperature: self._topic(side, cell.length, first + n)
            for n, temperature in enumerate(TEMPERATURES)
        }

    def _topic(self, side: Side, length: int, number: int) -> str:
        name = self.control_name if side == "control" else self.target_of(side).name
        topic = f"{self.topic_prefix}__{name}__{length}__{number}"
        if len(topic) > _LONGEST_TOPIC:
            raise BadInput(
                f"comparison.topics.name: {topic} has {len(topic)} letters; allowed: {_LONGEST_TOPIC}"
            )
        return topic


def order(round_number: int) -> tuple[Side, ...]:
    """Who goes first, second and third."""
    first = round_number // 2 % len(SIDES)
    turned = SIDES[first:] + SIDES[:first]
    return turned if round_number % 2 == 0 else turned[::-1]
