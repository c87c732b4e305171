"""What the compiler does with a computation, stage by stage."""

from __future__ import annotations

import html
import operator
import re
from collections.abc import Sequence
from typing import Any

from tulle.notation import statements
from tulle.notation.gradient_stage import gradient_stage
from tulle.notation.part_shares import share_text
from tulle.programs.candidates import candidates_for
from tulle.programs.execution import explanation_of
from tulle.programs.problem import untuned_problem
from tulle.programs.program import Operand, OutFormat, Program, decomposed_in
from tulle.support.errors import UserError
from tulle.tensors.sparse_tensor import SparseTensor


class Explanation:
    """The stages of a computation. It prints as text; a notebook shows foldable stages.

    The text begins with a summary of the plan. `stages["plan"]` and `explanation["plan"]` are the
    text of one stage; `explanation[:500]` is a part of the whole text.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def stages(self) -> dict[str, str]:
        """The text of each stage by name."""
        parts = re.split(r"^=+ *([\w/ -]+?) *=+$", self.text, flags=re.MULTILINE)
        return dict(zip(parts[1::2], (part.strip("\n") for part in parts[2::2]), strict=True))

    @property
    def summary(self) -> str:
        """The plan in a few lines: loops, threads, conversions, bytes, estimated time."""
        return self.stages["summary"]

    def __getitem__(self, stage: str | slice) -> str:
        if isinstance(stage, slice):
            return self.text[stage]
        stages = self.stages
        if not isinstance(stage, str) or stage not in stages:
            raise UserError(f"explain: no stage is named {stage!r}; there are {', '.join(stages)}.")
        return stages[stage]

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
    """A summary of the plan, formats, plan, nest, loop IR, LLVM IR and assembly of an einsum
    (operands in order) or of statements of index notation (operands by name), as they run on
    torch.get_num_threads() threads, and what their backward pass keeps and computes again. With
    `candidates` the most promising of the schedules that `tune` would try follow, that many of
    them."""
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
            parts.append(share_text(program.called(name), operand))
    text = "== parts ==\n" + "".join(parts) + "\n" if parts else ""
    text += explanation_of(program, tuple(names), operands)
    gradients = gradient_stage(program, tuple(names), operands)
    if gradients:
        text += "\n== gradients ==\n" + gradients
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
            f"explain: candidates must be an integer of at least 0, but found {candidates!r}."
        )
    return count


def _candidates(
    program: Program, names: Sequence[str], operands: Sequence[Operand], most: int
) -> str:
    """The planned schedule and the most promising others with their predicted times."""
    found = candidates_for(untuned_problem(program, names, operands))
    lines = [f"{len(found)} schedules, by predicted time; tulle.tune measures them"]
    for one in found[: most + 1]:
        mark = " (planned by rule)" if one.is_default else ""
        lines.append(f"{1e3 * (one.predicted or 0):9.4g} ms  {one.schedule or 'none'}{mark}")
    return "\n".join(lines) + "\n"
