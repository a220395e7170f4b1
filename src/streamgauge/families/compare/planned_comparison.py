"""A comparison as it is to be run: cells, and in each of them who has a turn when.

Every repetition is a round in which A, B and the control (A's target once more) have a turn each. Two rounds
mirror each other, and every other round begins with the next one, so that over six rounds nobody has a
better place: A B C, C B A, B C A, A C B, C A B, B A C. Of these, A and B alone make ABBA BAAB ABBA.
"""

from __future__ import annotations

from collections.abc import Iterator
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

_LONGEST_TOPIC = 249


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
        position = 0
        for repetition in range(WARM_UP, self.comparison.repeat):
            turns = []
            for side in order(max(repetition, 0)):
                turns.append(Turn(cell, repetition, position, side, self._topics(cell, repetition, side)))
                position += 1
            yield turns

    def _topics(self, cell: Cell, repetition: int, side: Side) -> dict[Temperature, str]:
        """Tests of one side and length are numbered through, so that every one has a topic of its own."""
        before = (cell.number // len(self.comparison.lengths)) * (self.comparison.repeat + 1)
        first = len(TEMPERATURES) * (before + repetition - WARM_UP)
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
