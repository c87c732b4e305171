"""Times contenders side by side: interleaved runs, medians, and the rows that suites report."""

from __future__ import annotations

import math
import random
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Protocol

import numpy as np

# torch says so with the first CSR tensor of a process.
warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")

Call = Callable[[], object]

SUBJECT = "tulle"  # what the ratios are about; its forms are called so and more ("tulle out=")
RUNS = 20  # measured runs of a contender, unless that would break the time budget
FEWEST_RUNS = 5
BURST_SECONDS = 0.002  # short calls are measured in bursts of about this length
LONGEST_BURST = 50


def is_subject(contender: str) -> bool:
    """Whether this is a form of Tulle."""
    return contender.split()[0] == SUBJECT


@dataclass(frozen=True)
class Timing:
    """Seconds of one call: the median and the quartiles of so many runs."""

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
    """One case: what each contender took. `notes` go into the JSON, the remark is printed too.

    `against` names the form of Tulle that a peer is compared with, where it is not the plain one.
    """

    case: str
    threads: int | None
    times: dict[str, Timing]
    notes: dict[str, object] = field(default_factory=dict)
    remark: str = ""
    against: dict[str, str] = field(default_factory=dict)

    def base(self, peer: str) -> str:
        """Whom the peer is compared with: a form of Tulle, or without Tulle the first contender."""
        wanted = self.against.get(peer, SUBJECT)
        return wanted if wanted in self.times else next(iter(self.times))

    def ratio(self, peer: str) -> float | None:
        """Time of the peer over that of its base, above 1 where the base is faster."""
        if peer not in self.times or is_subject(peer) or peer == self.base(peer):
            return None
        return self.times[peer].median / self.times[self.base(peer)].median


@dataclass(frozen=True)
class Verdict:
    """A promise, what was measured, and whether it holds (None: not measured)."""

    promise: str
    found: str
    holds: bool | None


@dataclass(frozen=True)
class Options:
    """What the command line asks for. `tulle` is None where only the peers run."""

    tulle: ModuleType | None
    threads: tuple[int, ...]
    matrices: tuple[str, ...]
    widths: tuple[int, ...]
    beside: tuple[ModuleType, ...] = ()  # with contenders of the user's own
    formats: tuple[str, ...] = ()  # composite ones, where a suite compares such
    tune: float = 0.0  # seconds of search before these are measured


class Suite(Protocol):
    """A file of `suites/`."""

    TITLE: str
    COMPARE: bool  # ratios, or plain milliseconds

    def measure(self, options: Options) -> Iterator[Row]: ...

    def judge(self, rows: Sequence[Row]) -> list[Verdict]: ...


class WrongResult(Exception):
    """A contender computed something else than the reference."""


def check(name: str, found: Any, wanted: Any, tolerance: float = 1e-4) -> None:
    """Refuses a dense result that differs from the reference, whose sums must not cancel."""
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
    """Medians of interleaved runs; what a call returns is freed within its time.

    In every round each contender that is due runs once, or where it is quick in a short burst after
    an unmeasured call; the order changes from round to round. A contender that would take more than
    its share of `budget` seconds runs fewer times, unless it is named in `in_full`.
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
    """NaN for no values."""
    logs = [math.log(v) for v in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def ratios(rows: Iterable[Row], peer: str) -> list[float]:
    """The peer's ratio of every row that has one."""
    return [r for row in rows if (r := row.ratio(peer)) is not None]
