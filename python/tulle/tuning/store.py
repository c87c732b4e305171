"""The schedules that searches have stored, in this process and on disk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tulle.library import bindings
from tulle.notation.explanations import Explanation
from tulle.programs.arguments import flatten
from tulle.programs.execution import explanation_of
from tulle.programs.problem import Problem
from tulle.tensors.pattern import sizes_tensor
from tulle.tuning.report import table
from tulle.tuning.result import Decision, Tuned


@dataclass(frozen=True)
class TunedPlan:
    """A measured schedule and the computations that use it. Names are numbered: T for tensors, x
    for indices."""

    statements: str
    tensors: str  # a line for each: types and format
    operands: str  # magnitudes of extents and entries
    machine: str
    schedule: str  # empty: the planned schedule
    seconds: float
    default_seconds: float
    report: str
    made: int  # seconds since 1970


def tuned_plans() -> list[TunedPlan]:
    """The plans on disk, the latest first."""
    return list(_parsed(bindings.tuned_plans()))


def _parsed(text: str) -> Iterator[TunedPlan]:
    for record in text.split("\x1e")[:-1]:
        statements, tensors, operands, machine, schedule, *figures = record.split("\x1f")
        seconds, default, report, made = figures
        what = (statements, tensors, operands, machine, schedule)
        yield TunedPlan(*what, float(seconds), float(default), report, int(made))


def store(found: Tuned) -> None:
    """Stores the decisions of a search. For formats other than the operands' own, which were
    searched less, it stores only schedules that won against the planned one."""
    report = table(found.measured, found.default)
    for decision in found.decisions:
        if decision is found.decision or not decision.best.is_default:
            store_decision(found.problem.converted(dict(decision.formats)), decision, report)


def store_decision(problem: Problem, decision: Decision, report: str) -> None:
    """Stores the decision for operands like these; it replaces an earlier one."""
    schedule = "" if decision.best.is_default else decision.best.candidate.schedule
    figures = decision.seconds, decision.default_seconds
    numbers, tensors = flatten(problem.operands)
    sizes = sizes_tensor(numbers)
    bindings.keep_schedule(problem.key(), sizes, tensors, schedule, *figures, report)


def stored_schedule(problem: Problem) -> str:
    """The stored schedule for operands like these, in the notation of callers. Empty if there is
    none, or if it is the planned one."""
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
    """Removes all plans, in this process and on disk, and returns their number."""
    return bindings.forget_tuned_plans()


def cache_directory() -> Path | None:
    """The directory of kernels and plans on disk, if there is one."""
    found = bindings.cache_directory()
    return Path(found) if found else None
