"""The plans that searches have kept, for this process and on disk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tulle.library import bindings
from tulle.notation.explanations import Explanation
from tulle.programs.execution import explanation_of, flatten
from tulle.support.errors import translated
from tulle.tuning.result import Decision, Tuned, table
from tulle.tuning.space import Problem


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
    return list(_parsed(bindings.tuned_plans()))


def _parsed(text: str) -> Iterator[TunedPlan]:
    for record in text.split("\x1e")[:-1]:
        statements, tensors, operands, machine, schedule, *figures = record.split("\x1f")
        seconds, default, report, made = figures
        what = (statements, tensors, operands, machine, schedule)
        yield TunedPlan(*what, float(seconds), float(default), report, int(made))


def keep(found: Tuned) -> None:
    """Stores what was decided: for the operands' own formats in any case, for others, of which less
    was tried, where a schedule has won."""
    report = table(found.measured, found.default)
    for decision in found.decisions:
        if decision is found.decision or not decision.best.is_default:
            keep_decision(found.problem.converted(dict(decision.formats)), decision, report)


def keep_decision(problem: Problem, decision: Decision, report: str) -> None:
    """Stores it for operands like these, in place of what was kept for them before."""
    schedule = "" if decision.best.is_default else decision.best.candidate.schedule
    figures = decision.seconds, decision.default_seconds
    operands = flatten(problem.operands)
    try:
        bindings.keep_schedule(problem.key(), *operands, schedule, *figures, report)
    except RuntimeError as error:
        raise translated(error) from None


def kept_schedule(problem: Problem) -> str:
    """The schedule that is kept for operands like these, as a caller would write it; empty where
    there is none, or where it is the planned one."""
    tuned = problem.tuned()
    try:
        text = explanation_of(tuned.program, tuned.names, tuned.operands)
    except (RuntimeError, ValueError):
        return ""
    stages = Explanation(text).stages
    if "tuning" not in stages:
        return ""
    found = re.search(r"^schedule: (.*)$", stages["tuning"], re.MULTILINE)
    return found[1] if found else ""


def forget_tuned_plans() -> int:
    """Removes all, in this process and on disk; how many there were."""
    return bindings.forget_tuned_plans()


def cache_directory() -> Path | None:
    """Where kernels and plans are kept on disk, if anywhere."""
    found = bindings.cache_directory()
    return Path(found) if found else None
