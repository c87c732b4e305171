"""Times contenders side by side: interleaved runs, medians, and the rows that suites report."""

from __future__ import annotations

import math
import random
import statistics
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Protocol

import numpy as np

# torch warns once a process, with the first CSR tensor.
warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")

Call = Callable[[], object]

SUBJECT = "tulle"  # the base of the ratios; the names of its forms begin with it ("tulle out=")
RUNS = 20  # measured runs of a contender within the time budget
FEWEST_RUNS = 5
BURST_SECONDS = 0.002  # short calls are measured in bursts of about this length
LONGEST_BURST = 50


def is_subject(contender: str) -> bool:
    """Whether the contender is a form of Tulle."""
    return contender.split()[0] == SUBJECT


@dataclass(frozen=True)
class Timing:
    """Seconds of one call: the median and the quartiles of several runs."""

    median: float
    low: float
    high: float
    runs: int

    @staticmethod
    def of(samples: Sequence[float]) -> Timing:
        low, median, high = np.percentile(samples, [25, 50, 75])
        return Timing(float(median), float(low), float(high), len(samples))


@dataclass
class Row:
    """One case with the times of each contender. `notes` go into the JSON, `remark` is printed too.

    `against` names the form of Tulle that a peer is compared with, if it is not the plain form.
    """

    case: str
    threads: int | None
    times: dict[str, Timing]
    notes: dict[str, object] = field(default_factory=dict)
    remark: str = ""
    against: dict[str, str] = field(default_factory=dict)

    def base(self, peer: str) -> str:
        """The contender that the peer is compared with: a form of Tulle; without Tulle the first
        contender."""
        wanted = self.against.get(peer, SUBJECT)
        return wanted if wanted in self.times else next(iter(self.times))

    def ratio(self, peer: str) -> float | None:
        """The peer's time over its base's time; above 1 the base is faster."""
        if peer not in self.times or is_subject(peer) or peer == self.base(peer):
            return None
        return self.times[peer].median / self.times[self.base(peer)].median


@dataclass(frozen=True)
class Verdict:
    """A promise, the measured value, and whether the promise holds (None: not measured)."""

    promise: str
    found: str
    holds: bool | None


@dataclass(frozen=True)
class Options:
    """The options of the command line. `tulle` is None if only the peers run."""

    tulle: ModuleType | None
    threads: tuple[int, ...]
    matrices: tuple[str, ...]
    widths: tuple[int, ...]
    beside: tuple[ModuleType, ...] = ()  # modules with contenders of the user
    formats: tuple[str, ...] = ()  # composite formats, for the suites that compare them
    tune: float = 0.0  # seconds of search before a composite format is measured


class Suite(Protocol):
    """A module of `suites/`."""

    TITLE: str
    COMPARE: bool  # whether the table has ratios; else milliseconds

    def measure(self, options: Options) -> Iterator[Row]: ...

    def judge(self, rows: Sequence[Row]) -> list[Verdict]: ...


class WrongResult(Exception):
    """The result of a contender differs from the reference."""


def check(name: str, found: Any, wanted: Any, tolerance: float = 1e-4) -> None:
    """Raises WrongResult if a dense result differs from the reference, whose sums must not
    cancel."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    if found.shape != wanted.shape:
        raise WrongResult(f"{name}: shape {found.shape}, expected {wanted.shape}")
    wrong = ~np.isclose(found, wanted, rtol=tolerance, atol=tolerance)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise WrongResult(
            f"{name}: {found[at]} at {at}, expected {wanted[at]}; {wrong.sum()} entries are wrong"
        )


def _planned_runs(estimate: float, share: float, runs: int) -> int:
    return max(FEWEST_RUNS, min(runs, int(share / max(estimate, 1e-9))))


def measure(
    calls: Mapping[str, Call], budget: float, in_full: Iterable[str] = (), runs: int = RUNS
) -> dict[str, Timing]:
    """Medians of interleaved runs. The time of a call includes freeing its result.

    In each round every contender runs once, a quick one in a short burst after an unmeasured call.
    The order changes from round to round. A contender that would exceed its share of `budget`
    seconds runs in fewer rounds, unless `in_full` names it.
    """
    estimate = {}
    for name, call in calls.items():
        call()
        start = time.perf_counter()
        call()
        estimate[name] = time.perf_counter() - start
    share = budget / len(calls)
    planned = {
        n: runs if n in in_full else _planned_runs(t, share, runs) for n, t in estimate.items()
    }
    samples: dict[str, list[float]] = {name: [] for name in calls}
    order = list(calls)
    shuffle = random.Random(0).shuffle
    for turn in range(runs):
        shuffle(order)
        for name in order:
            if (turn + 1) * planned[name] // runs == turn * planned[name] // runs:
                continue
            call = calls[name]
            burst = min(LONGEST_BURST, int(BURST_SECONDS / max(estimate[name], 1e-9))) or 1
            if burst > 1:
                call()
            for _ in range(burst):
                start = time.perf_counter()
                call()
                samples[name].append(time.perf_counter() - start)
    return {name: Timing.of(found) for name, found in samples.items()}


def geometric_mean(values: Iterable[float]) -> float:
    """The geometric mean; NaN without values."""
    found = list(values)
    return statistics.geometric_mean(found) if found else math.nan


def ratios(rows: Iterable[Row], peer: str) -> list[float]:
    """The ratios of the peer in the rows that have one."""
    return [r for row in rows if (r := row.ratio(peer)) is not None]
