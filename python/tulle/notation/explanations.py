"""Shows what the compiler does with a computation, stage by stage."""

from __future__ import annotations

import html
import operator
import re
from collections.abc import Sequence
from typing import Any

from tulle.notation import statements
from tulle.programs.execution import (
    Operand,
    OutFormat,
    Program,
    decomposed_in,
    explanation_of,
)
from tulle.support.errors import UserError
from tulle.tensors import composites
from tulle.tensors.sparse_tensor import SparseTensor


class Explanation:
    """The stages of a computation: prints as text, folds in a notebook."""

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def stages(self) -> dict[str, str]:
        """The text of each stage by the name of its folder."""
        parts = re.split(r"^=+ *([\w/ -]+?) *=+$", self.text, flags=re.MULTILINE)
        return dict(zip(parts[1::2], (part.strip("\n") for part in parts[2::2]), strict=True))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        if not self.stages:
            return f"<pre>{html.escape(self.text)}</pre>"
        return "\n".join(
            f"<details><summary>{html.escape(name)}</summary><pre>{html.escape(text)}</pre></details>"
            for name, text in self.stages.items()
        )


def explain(
    text: str,
    /,
    *operands: Any,
    out_format: OutFormat = None,
    candidates: int = 0,
    **named: Any,
) -> Explanation:
    """Formats, plan, nest, loop IR, LLVM IR and assembly of an einsum (operands in order) or of
    statements of index notation (operands by name), as it runs on torch.get_num_threads(). With so
    many of the schedules that `tune` would try first, if asked for, at the end."""
    prepared = statements.prepare("explain", text, operands, named, out_format)
    return explain_program(*prepared, _count(candidates))


def explain_program(
    program: Program, names: Sequence[str], operands: Sequence[Operand], candidates: int = 0
) -> Explanation:
    """The stages of a program for these operands."""
    decomposed = decomposed_in(program)
    parts = []
    for name, operand in zip(names, operands, strict=True):
        if not isinstance(operand, SparseTensor):
            continue
        if name in decomposed:
            operand = operand.to(format=decomposed[name])
        if operand.format.is_composite:
            parts.append(composites.share_text(program.called(name), operand))
    text = "== parts ==\n" + "".join(parts) + "\n" if parts else ""
    text += explanation_of(program, names, operands)
    if candidates:
        text += "\n== candidates ==\n" + _candidates(program, names, operands, candidates)
    return Explanation(text)


def _count(candidates: Any) -> int:
    try:
        count = operator.index(candidates)
    except TypeError:
        count = -1
    if count < 0:
        raise UserError(
            f"explain: candidates should be a whole number from 0 on, but found {candidates!r}."
        )
    return count


def _candidates(
    program: Program, names: Sequence[str], operands: Sequence[Operand], most: int
) -> str:
    """The planned schedule and the most promising others, with what is predicted."""
    from tulle.tuning.space import candidates_for, problem_for

    found = candidates_for(problem_for(program, names, operands))
    lines = [f"{len(found)} schedules, by predicted time; tulle.tune measures them"]
    for one in found[: most + 1]:
        mark = " (planned by rule)" if one.is_default else ""
        lines.append(f"{1e3 * (one.predicted or 0):9.4g} ms  {one.schedule or 'none'}{mark}")
    return "\n".join(lines) + "\n"
