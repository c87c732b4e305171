"""Finds the fastest formats and schedule for a computation by measuring, and keeps them."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from tulle.programs.execution import OutFormat
from tulle.support.errors import UserError
from tulle.tuning.progress import bar
from tulle.tuning.result import Tuned
from tulle.tuning.search import Search
from tulle.tuning.space import Space, default_space, problem_of
from tulle.tuning.store import keep


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
    of statements (operands by name) for about so many seconds. The best schedule for the operands'
    own formats is kept, and used from then on by all that computes the same with operands like
    these, in other processes too, if it was faster than what is planned by rule in a race of both.

    Ctrl-C ends the search early with what was decided so far. That is kept as soon as it is
    decided, whatever becomes of the process. Operands are never converted behind a caller's back:
    where another format is faster, the result says so, and what converting costs.
    """
    problem = problem_of("tune", text, operands, named, out_format)
    if not problem.operands:
        raise UserError("tune: the computation has no operands to measure it with.")
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
            f"tune: space is one of {space.problem.program.text}, not of {text}; "
            "Space.default(...) makes one from the same arguments."
        )
    is_shown = sys.stderr.isatty() if progress is None else progress
    show = bar if is_shown else None
    found = Search(replace(space, problem=problem), seconds, show, keep=keep).run()
    keep(found)
    return found
