"""The plans that searches have kept on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tulle import _library


@dataclass(frozen=True)
class TunedPlan:
    """A schedule that was found by measuring, and for what: names are numbered, T for tensors, x
    for indices."""

    statements: str
    tensors: str  # their types and formats, a line for each
    operands: str  # magnitudes of extents and entries
    machine: str
    schedule: str  # empty: the planned one
    seconds: float
    default_seconds: float
    report: str
    made: int  # seconds since 1970


def tuned_plans() -> list[TunedPlan]:
    """Those on disk, the latest first."""
    return list(_parsed(_library.tuned_plans()))


def _parsed(text: str) -> Iterator[TunedPlan]:
    for record in text.split("\x1e")[:-1]:
        statements, tensors, operands, machine, schedule, *figures = record.split("\x1f")
        seconds, default, report, made = figures
        what = (statements, tensors, operands, machine, schedule)
        yield TunedPlan(*what, float(seconds), float(default), report, int(made))


def forget_tuned_plans() -> int:
    """Removes all, in this process and on disk; how many there were."""
    return _library.forget_tuned_plans()


def cache_directory() -> Path | None:
    """Where kernels and plans are kept on disk, if anywhere."""
    found = _library.cache_directory()
    return Path(found) if found else None
