"""Races: runners take turns, and the samples decide which is faster."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from tulle.programs.candidates import Candidate

ROUNDS = 15  # of a deciding race, if time allows
LEAST_ROUNDS = 5  # that can decide
LEAST_TRIAL = 2  # rounds that show whether a candidate deserves more
GAIN = 0.98  # a winner's time must stay below this share of the other's
LUCK = 1 / 32  # the largest probability of winning that many rounds by chance
STEADY = 1.5  # the median of an undisturbed runner stays below this multiple of its least time


class Sample(NamedTuple):
    """The seconds of a call, and whether the measurement was free of disturbance by other work."""

    seconds: float
    is_clean: bool = True


@dataclass(frozen=True)
class Verdict:
    """The result of a race for a runner and the first runner."""

    seconds: float  # the median of the runner
    other_seconds: float  # the median of the first
    is_clear: bool  # False: one of the two was disturbed for too long
    is_won: bool

    @property
    def ratio(self) -> float:
        """The time over the other's; below 1 the runner is faster."""
        return self.seconds / self.other_seconds


@dataclass
class Measured:
    """A candidate with its times."""

    candidate: Candidate
    seconds: float = float("inf")  # the median of the last samples, of the clean ones if there are
    samples: list[float] = field(default_factory=list)
    clean: list[float] = field(default_factory=list)  # the undisturbed samples
    ratio: float = float("inf")  # to the search's default beside it; used for ranking only
    is_judged: bool = False  # whether enough undisturbed samples support the ratio
    verdict: Verdict | None = None  # of a deciding race against the default of its formats
    refused: str = ""  # why it was not measured
    conversion_seconds: float = 0.0  # for the operands into its formats

    @property
    def is_default(self) -> bool:
        """Whether the schedule is the planned one for its formats."""
        return self.candidate.is_default

    @property
    def has_won(self) -> bool:
        """Whether it is known to be faster than the default."""
        return self.verdict is not None and self.verdict.is_won

    @property
    def has_lost(self) -> bool:
        """Whether it is known not to be faster than the default."""
        return self.verdict is not None and self.verdict.is_clear and self.verdict.ratio >= GAIN

    def add(self, samples: Sequence[Sample]) -> None:
        """Adds samples and updates the median."""
        self.samples += [sample.seconds for sample in samples]
        self.clean += [sample.seconds for sample in samples if sample.is_clean]
        self.seconds = statistics.median((self.clean or self.samples)[-ROUNDS:])

    @property
    def disturbed(self) -> int:
        """The number of disturbed samples."""
        return len(self.samples) - len(self.clean)


class Runner(Protocol):
    """A candidate that can race."""

    measured: Measured
    repeats: int  # calls in a sample

    def sample(self) -> Sample:
        """Measures one sample."""

    def release(self) -> None:
        """Frees what only samples need."""


@dataclass(frozen=True)
class Race:
    """The samples of runners that took turns, round by round."""

    taken: Sequence[Sequence[Sample]]  # of each runner
    least: Sequence[float]  # the least sample of each runner, in this race or before

    def verdict(self, at: int) -> Verdict:
        """The verdict on a runner and the first runner.

        A runner wins if its median is lower, if it wins more rounds than chance explains, and if
        its best sample is better than any sample of the first. Disturbed rounds do not count. Where
        no disturbance was noticed, a median far above the least time shows one.
        """
        rounds = list(zip(self.taken[at], self.taken[0], strict=True))
        clean = self.clean_rounds(at)
        is_enough = len(clean) >= LEAST_ROUNDS
        pairs = [(one.seconds, other.seconds) for one, other in clean or rounds]
        seconds, other = (statistics.median(times) for times in zip(*pairs, strict=True))
        is_steady = seconds < STEADY * self.least[at] and other < STEADY * self.least[0]
        is_clear = is_enough and is_steady
        wins = sum(one < other for one, other in pairs)
        is_won = (
            is_clear
            and seconds < GAIN * other
            and chance_of(wins, len(pairs)) <= LUCK
            and min(one for one, _ in pairs) < self.least[0]
        )
        return Verdict(seconds, other, is_clear, is_won)

    def clean_rounds(self, at: int) -> list[tuple[Sample, Sample]]:
        """The rounds in which neither the runner nor the first was disturbed."""
        rounds = zip(self.taken[at], self.taken[0], strict=True)
        return [(one, other) for one, other in rounds if one.is_clean and other.is_clean]


def chance_of(wins: int, rounds: int) -> float:
    """The probability that one of two equals wins at least that many rounds."""
    return float(sum(math.comb(rounds, won) for won in range(wins, rounds + 1)) / 2**rounds)


def race(
    runners: Sequence[Runner], rounds: int, now: Callable[[], float], deadline: float = math.inf
) -> Race:
    """Lets the runners take turns, in alternating order, until each has that many undisturbed
    rounds, or after twice as many. Past the deadline it ends as soon as it has enough rounds to
    decide. An interrupted race leaves no samples behind."""
    taken: list[list[Sample]] = [[] for _ in runners]
    found = Race(taken, ())
    for turn in range(2 * rounds):
        order = range(len(runners))
        for at in order if turn % 2 == 0 else reversed(order):
            taken[at].append(runners[at].sample())
        is_over = turn + 1 >= LEAST_ROUNDS and now() > deadline
        if is_over or all(len(found.clean_rounds(at)) >= rounds for at in order):
            break
    for runner, samples in zip(runners, taken, strict=True):
        runner.measured.add(samples)
        runner.release()
    return Race(taken, [min(runner.measured.samples) for runner in runners])


def cost(runners: Sequence[Runner]) -> float:
    """The seconds of a round."""
    return sum(runner.repeats * runner.measured.seconds for runner in runners)
