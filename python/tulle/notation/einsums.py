"""torch.einsum over sparse and dense tensors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from torch import Tensor
from torch.compiler import is_compiling

from tulle.programs.call_sites import CallSite
from tulle.programs.operands import as_operand
from tulle.programs.program import (
    Operand,
    OutFormat,
    Program,
    Result,
    einsum_program,
    out_formats,
)
from tulle.support.arguments import check_text
from tulle.support.errors import UserError
from tulle.support.text import nearest
from tulle.tensors.graph_boundary import recorded

_REDUCTIONS = ("sum", "mean", "amax", "amin", "prod")


def einsum(
    equation: str,
    /,
    *operands: Any,
    out_format: OutFormat = None,
    reduce: str = "sum",
    out: Tensor | None = None,
) -> Result:
    """The sum of products that an equation describes, such as "ij,jk->ik", over operands of any
    rank and format. `...`, implicit results and broadcasting work as in torch.

    With `reduce` "mean", "amax", "amin" or "prod" the products are reduced in that way in place of
    the sum, over the entries that all sparse operands have; where there are none, the result is 0.
    `out_format` is the format of the result. A dense result is written to `out` if it is given.
    """
    run = _run_in_graph if is_compiling() else _run
    return run(equation, operands, out_format, reduce, out)


def _run(
    equation: str, operands: tuple[Any, ...], out_format: OutFormat, reduce: str, out: Tensor | None
) -> Result:
    check_text("einsum", equation, "ij,jk->ik")
    formats = () if out_format is None else out_formats(out_format)
    result: Result = _site(equation, formats, reduce).run_on(operands, out)
    return result


_run_in_graph = recorded(_run)


@lru_cache(maxsize=4096)
def _site(equation: str, formats: tuple[tuple[str, str], ...], reduce: str) -> CallSite:
    return CallSite(
        lambda operands: _prepared(equation, operands, formats, reduce), 1, is_product=True
    )


def prepare(
    equation: str,
    operands: Sequence[Any],
    out_format: OutFormat = None,
    reduce: str = "sum",
) -> tuple[Program, tuple[str, ...], list[Operand]]:
    """The program of an einsum, and the names and operands that it runs on."""
    check_text("einsum", equation, "ij,jk->ik")
    return _prepared(equation, operands, out_formats(out_format), reduce)


def _prepared(
    equation: str, operands: Sequence[Any], formats: tuple[tuple[str, str], ...], reduce: str
) -> tuple[Program, tuple[str, ...], list[Operand]]:
    if reduce not in _REDUCTIONS:
        raise UserError(
            f"einsum: reduce must be one of {', '.join(_REDUCTIONS)}, but found {reduce!r}"
            f"{nearest(reduce, _REDUCTIONS)}"
        )
    names = _operand_names(len(operands))
    tensors = [as_operand(f"operand {n + 1}", value) for n, value in enumerate(operands)]
    ones = tuple(
        (n, dimension)
        for n, tensor in enumerate(tensors)
        if 1 in tensor.shape
        for dimension, size in enumerate(tensor.shape)
        if size == 1
    )
    return einsum_program(equation, formats, ones, reduce), names, tensors


@lru_cache(maxsize=64)
def _operand_names(count: int) -> tuple[str, ...]:
    """The names of an einsum's operands, on which Program.called() relies."""
    return tuple(f"t{n}" for n in range(count))
