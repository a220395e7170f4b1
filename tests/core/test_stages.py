from __future__ import annotations

from streamgauge.core.stages import STAGE_WORDS, Stage, Stages, seconds_together, stages_text


class Told:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def begin(self, stage: Stage) -> None:
        self.lines.append(f"+{stage}")

    def end(self, stage: Stage, seconds: float) -> None:
        self.lines.append(f"-{stage} {seconds:g}")


class Time:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_the_seconds_of_all_stages_are_those_of_the_command() -> None:
    told, time = Told(), Time()
    stages = Stages(told, time)
    for stage, took_s in (
        (Stage.STARTING_SYSTEM, 2.0),
        (Stage.STARTING_SPARK, 3.0),
        (Stage.STARTING_SYSTEM, 0.5),
        (Stage.MEASURING, 7.0),
    ):
        stages.enter(stage)
        time.now_s += took_s
    stages.end()
    assert stages.seconds() == {"starting_system": 2.5, "starting_spark": 3.0, "measuring": 7.0}
    assert sum(stages.seconds().values()) == time.now_s - 100.0
    assert told.lines[:3] == ["+starting_system", "-starting_system 2", "+starting_spark"]


def test_a_stage_entered_again_goes_on() -> None:
    told, time = Told(), Time()
    stages = Stages(told, time)
    stages.enter(Stage.WARMING_UP)
    time.now_s += 4
    stages.enter(Stage.WARMING_UP)
    assert stages.so_far_s == 4
    assert told.lines == ["+warming_up"]
    stages.end()
    stages.end()
    assert told.lines == ["+warming_up", "-warming_up 4"]
    assert stages.so_far_s == 0


def test_a_stage_may_have_begun_before_it_was_known() -> None:
    time = Time()
    stages = Stages(None, time)
    stages.enter(Stage.WARMING_UP)
    time.now_s += 20
    stages.enter(Stage.MEASURING, 4.0)
    assert stages.so_far_s == 4
    time.now_s += 1
    stages.end()
    assert stages.seconds() == {"warming_up": 16.0, "measuring": 5.0}


def test_what_turns_out_to_have_begun_later_was_the_stage_before_until_then() -> None:
    time = Time()
    stages = Stages(None, time)
    stages.enter(Stage.WARMING_UP)
    time.now_s += 5
    stages.enter(Stage.MEASURING, 2.0)
    time.now_s += 30
    stages.began_only(32.0)
    assert stages.so_far_s == 32  # as it was known
    stages.began_only(4.0)
    time.now_s += 1
    stages.end()
    assert stages.seconds() == {"warming_up": 31.0, "measuring": 5.0}


def test_but_not_before_the_one_before_did() -> None:
    time = Time()
    stages = Stages(None, time)
    stages.enter(Stage.STARTING_AGENTS, 50.0)
    time.now_s += 2
    stages.enter(Stage.MEASURING, 9.0)
    assert stages.seconds() == {"starting_agents": 0.0}
    assert stages.so_far_s == 2


def test_every_stage_has_words() -> None:
    assert set(STAGE_WORDS) == set(Stage)
    assert stages_text({"warming_up": 7.04, "writing": 0.3}) == "warming up 7.0 s · writing the report 0.3 s"


def test_seconds_of_several_processes_are_added_up_in_the_order_of_a_run() -> None:
    first, second = {"starting_spark": 3.0, "measuring": 2.5}, {"measuring": 4.5, "fetching": 1.0}
    assert list(seconds_together(first, second).items()) == [
        ("fetching", 1.0),
        ("starting_spark", 3.0),
        ("measuring", 7.0),
    ]
    assert seconds_together({}, {}) == {}
