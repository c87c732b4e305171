"""`tulle.tune`: finds the fastest formats and schedule for a computation by measuring."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tulle.programs.program import OutFormat
from tulle.support.errors import UserError
from tulle.tuning.progress import progress_bar
from tulle.tuning.result import Tuned
from tulle.tuning.search import Search
from tulle.tuning.space import Space, default_space, problem_of
from tulle.tuning.store import store


def tune(
    text: str,
    /,
    *operands: Any,
    space: Space | None = None,
    seconds: float = 10.0,
    out_format: OutFormat = None,
    progress: bool | None = None,
    **named: Any,
) -> Tuned:
    """Measures schedules, and formats if the space has several, of an einsum (operands in order) or
    of statements (operands by name) for about that many seconds.

    The best schedule for the operands' own formats is stored if it beat the planned schedule in a
    direct comparison. From then on every computation that is equal, with similar operands, uses it,
    also in other processes. `progress` shows a progress bar; by default a terminal gets one.

    Ctrl-C ends the search early with the decisions made so far. A decision is stored as soon as it
    is made, so a killed process does not lose it. Operands are never converted silently: if another
    format is faster, the result names it with the cost of the conversion.
    """
    problem = problem_of("tune", text, operands, named, out_format)
    if not problem.operands:
        raise UserError("tune: the computation has no operands, so there is nothing to measure.")
    if not isinstance(seconds, int | float) or not seconds > 0:
        raise UserError(f"tune: seconds should be a number above 0, but found {seconds!r}.")
    if space is None:
        space = default_space(problem)
    elif not isinstance(space, Space):
        raise UserError(
            f"tune: space should be a tulle.Space, but found {type(space).__name__}; "
            "Space.default(...) makes one from the same arguments."
        )
    elif not space.problem.computes_like(problem):
        raise UserError(
            f"tune: the space is for {space.problem.program.text}, not for {text}; "
            "Space.default(...) makes one from the same arguments."
        )
    with progress_bar(progress) as show:
        found = Search(replace(space, problem=problem), seconds, show, store=store).run()
    store(found)
    return found
