"""`python -m bench verdicts`: are intervals and verdicts of a comparison right as often as they claim?"""

from __future__ import annotations

import numpy as np

from bench.verdict_trials import (
    LAWS,
    MOST_ROUNDS,
    RATIOS,
    REPEAT,
    SEQUENTIAL_RATIOS,
    Tally,
    drawn_trials,
    sequential_trials,
    simulated_trials,
)

TRIALS = 500
COVERAGE = 0.93
FALSE_VERDICTS = 0.05


def verdicts(trials: int) -> None:
    print(f"{trials} trials each, {REPEAT} repetitions; the true ratio is to lie in the 95% interval")
    tallies: list[tuple[str, Tally]] = []
    for number, ratio in enumerate(RATIOS):
        for temperature, tally in simulated_trials(ratio, trials, first_seed=number * trials).items():
            tallies.append((f"simulated, {temperature}", tally))
            print(_line(*tallies[-1]), flush=True)
    for name, noise in LAWS.items():
        for ratio in RATIOS:
            tallies.append((name, drawn_trials(noise, ratio, trials)))
            print(_line(*tallies[-1]), flush=True)
    _summary(tallies)
    until_decided(trials)


def until_decided(trials: int) -> None:
    """The same of comparisons that go on until they are decided."""
    print(f"until decided, looked at after every 6 rounds, {MOST_ROUNDS} at most; {trials} trials each")
    tallies: list[tuple[str, Tally]] = []
    for name, noise in LAWS.items():
        for ratio in SEQUENTIAL_RATIOS:
            tallies.append((f"until decided, {name}", sequential_trials(noise, ratio, trials)))
            rounds = f"; {np.mean(tallies[-1][1].rounds):.0f} rounds in the mean"
            print(_line(*tallies[-1]) + rounds, flush=True)
    _summary(tallies)


def _summary(tallies: list[tuple[str, Tally]]) -> None:
    worst = min(tally.coverage for _, tally in tallies)
    false = max(tally.false_verdicts for _, tally in tallies)
    alike = max(tally.false_verdicts for _, tally in tallies if tally.true_ratio == 1)
    print(f"{'least coverage':<44} {100 * worst:6.1f}%  (goal ≥ {100 * COVERAGE:g}%)")
    print(f"{'most false verdicts where A is B':<44} {100 * alike:6.1f}%  (goal ≤ {100 * FALSE_VERDICTS:g}%)")
    print(f"{'most false verdicts anywhere':<44} {100 * false:6.1f}%", flush=True)


def _line(name: str, tally: Tally) -> str:
    said = ", ".join(
        f"{100 * count / tally.trials:.0f}% {what}" for what, count in tally.verdicts.most_common()
    )
    return (
        f"{name + f', true ratio {tally.true_ratio:.2f}':<44} {100 * tally.coverage:6.1f}%  "
        f"width ×{np.median(tally.widths):.2f}; {said}"
    )
