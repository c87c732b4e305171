"""The schedules that the compiler proposes for a computation, with predicted times."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tulle.library import bindings
from tulle.programs.arguments import flatten
from tulle.programs.problem import Problem
from tulle.support.errors import UserError
from tulle.support.text import split_outside_brackets
from tulle.tensors.pattern import sizes_tensor


@dataclass(frozen=True)
class Candidate:
    """A schedule for operands in some formats."""

    formats: tuple[tuple[str, str], ...]  # of the sparse operands: name, format
    schedule: str
    predicted: float | None = None  # seconds
    is_default: bool = False  # the planned schedule of these formats
    is_given: bool = False  # by the user; a search tries it first

    @cached_property
    def steps(self) -> frozenset[str]:
        """The steps of the schedule as text."""
        return frozenset(steps_of(self.schedule))

    def difference(self, other: Candidate) -> int:
        """The number of decisions in which the two differ."""
        differing = self.steps ^ other.steps
        names = {without_statement(step).partition("(")[0] for step in differing}
        return len(names) + 2 * (self.formats != other.formats)


def steps_of(schedule: str) -> list[str]:
    """The steps of "split(k, 8, k0, k1); vectorize(k1, 8)" without comments. A composite format in
    a step stays whole."""
    text = re.sub(r"#[^\n]*", "", schedule)
    return [" ".join(step.split()) for step in split_outside_brackets(text, ";\n")]


def without_statement(step: str) -> str:
    """ "C: parallel(i)" without the name of its statement."""
    return re.sub(r"^\w+:\s*", "", step)


def candidates_for(problem: Problem) -> list[Candidate]:
    """The compiler's candidates for operands in these formats: the default, then the others by
    predicted time."""
    formats = tuple(problem.formats().items())
    by_statement: dict[str, list[tuple[str, float]]] = {}
    for seconds, statement, schedule in _proposals(problem.key(), problem):
        by_statement.setdefault(statement, []).append((schedule, seconds))
    total = sum(schedules[0][1] for schedules in by_statement.values())
    planned = "; ".join(schedules[0][0] for schedules in by_statement.values() if schedules[0][0])
    default = Candidate(formats, planned, total, is_default=True)
    # A candidate changes the schedule of one statement; the others keep the planned one.
    found: list[Candidate] = []
    for schedules in by_statement.values():
        (_, planned_seconds), *others = schedules
        rest = total - planned_seconds
        found += [Candidate(formats, schedule, rest + time) for schedule, time in others]
    return [default, *sorted(found, key=lambda one: one.predicted or 0.0)]


def predicted_seconds(problem: Problem, schedule: str) -> float | None:
    """The estimate for a schedule of the user's; None if it is illegal."""
    given = problem.with_schedule(schedule)
    key = given.key()
    try:
        return sum(seconds for seconds, *_ in _proposals(key, given))
    except (UserError, RuntimeError):
        return None


def _proposals(key: str, problem: Problem) -> Iterator[tuple[float, str, str]]:
    """Predicted seconds, name of the statement and schedule. The planned schedule of each statement
    comes first."""
    numbers, tensors = flatten(problem.operands)
    text = bindings.candidates(key, sizes_tensor(numbers), tensors)
    for record in text.split("\x1e")[:-1]:
        seconds, statement, schedule = record.split("\x1f")
        yield float(seconds), statement, schedule
