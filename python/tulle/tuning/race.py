"""Races of contenders that take turns, and what they say of who is faster."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from tulle.tuning.space import Candidate

ROUNDS = 15  # of a race that decides, if time allows
LEAST_ROUNDS = 5  # in which something can be decided
LEAST_TRIAL = 2  # that say whether one is worth more
GAIN = 0.98  # of the other's time: what a winner must stay under
LUCK = 1 / 32  # how likely as many rounds may be won by luck alone
STEADY = 1.5  # times its least time: what the median of one that nothing disturbs stays under


class Sample(NamedTuple):
    """Seconds of a call, and whether other work on the machine did not get in its way."""

    seconds: float
    is_clean: bool = True


@dataclass(frozen=True)
class Verdict:
    """What a race says of a contender and the one it ran against."""

    seconds: float  # medians of both
    other_seconds: float
    is_clear: bool  # False: something disturbed one of the two for too long
    is_won: bool

    @property
    def ratio(self) -> float:
        """Below 1 the contender is faster."""
        return self.seconds / self.other_seconds


@dataclass
class Measured:
    """A candidate with its times."""

    candidate: Candidate
    seconds: float = float("inf")  # the median of the last samples, disturbed ones if all are
    samples: list[float] = field(default_factory=list)
    clean: list[float] = field(default_factory=list)  # those of them that nothing disturbed
    ratio: float = float("inf")  # to the search's default beside it; it ranks candidates, no more
    is_judged: bool = False  # whether enough that nothing disturbed says so
    verdict: Verdict | None = None  # of a race that decides, against the default of its formats
    refused: str = ""  # why it was not measured
    conversion_seconds: float = 0.0  # of the operands into its formats

    @property
    def is_default(self) -> bool:
        """Whether the schedule is the planned one for the formats that it is for."""
        return self.candidate.is_default

    @property
    def has_won(self) -> bool:
        """Whether it is known to be faster than that."""
        return self.verdict is not None and self.verdict.is_won

    @property
    def has_lost(self) -> bool:
        """Whether it is known not to be."""
        return self.verdict is not None and self.verdict.is_clear and self.verdict.ratio >= GAIN

    def add(self, samples: Sequence[Sample]) -> None:
        """More of them."""
        self.samples += [sample.seconds for sample in samples]
        self.clean += [sample.seconds for sample in samples if sample.is_clean]
        self.seconds = statistics.median((self.clean or self.samples)[-ROUNDS:])

    @property
    def disturbed(self) -> int:
        """How many samples other work on the machine got in the way of."""
        return len(self.samples) - len(self.clean)


class Runner(Protocol):
    """What can be in a race."""

    measured: Measured
    repeats: int  # calls in a sample

    def sample(self) -> Sample:
        """Runs it."""

    def release(self) -> None:
        """Gives back what only samples need."""


@dataclass(frozen=True)
class Race:
    """The samples of contenders that took turns, round by round."""

    taken: Sequence[Sequence[Sample]]  # of each contender
    least: Sequence[float]  # sample of each, in this race or before it

    def verdict(self, at: int) -> Verdict:
        """Of a contender and the first. It wins if it is faster by the median and in more rounds
        than luck explains, and if its best is better than any sample of the first ever was. Rounds
        that were disturbed do not count; where nobody noticed, times tell that are far from those
        that were seen before."""
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
            and luck_of(wins, len(pairs)) <= LUCK
            and min(one for one, _ in pairs) < self.least[0]
        )
        return Verdict(seconds, other, is_clear, is_won)

    def clean_rounds(self, at: int) -> list[tuple[Sample, Sample]]:
        """Those in which nothing disturbed the contender or the first."""
        rounds = zip(self.taken[at], self.taken[0], strict=True)
        return [(one, other) for one, other in rounds if one.is_clean and other.is_clean]


def luck_of(wins: int, rounds: int) -> float:
    """How likely it is to win so many rounds or more of so many by chance."""
    return float(sum(math.comb(rounds, won) for won in range(wins, rounds + 1)) / 2**rounds)


def race(
    runners: Sequence[Runner], rounds: int, now: Callable[[], float], deadline: float = math.inf
) -> Race:
    """Takes turns, in this order and backwards, for so many rounds that nothing disturbs, and no
    more than twice as many. Ends early, but not before something can be decided, when time is
    over. What an interrupt ends leaves no trace."""
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
