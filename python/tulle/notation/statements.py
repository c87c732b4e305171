"""Index notation over tensors given by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.compiler import is_compiling

from tulle.notation import einsums
from tulle.programs.call_sites import CallSite
from tulle.programs.operands import as_operand, as_scalar
from tulle.programs.outputs import Out
from tulle.programs.program import Operand, OutFormat, Program, out_formats, statement_program
from tulle.support.arguments import check_text
from tulle.support.errors import Unsupported, UserError
from tulle.support.kinds import is_number
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.sparse_tensor import SparseTensor


def compute(
    text: str,
    /,
    out_format: OutFormat = None,
    *unnamed: Any,
    sizes: Mapping[str, int] | None = None,
    out: Out = None,
    **operands: Any,
) -> Any:
    """Runs statements of index notation, such as "S[i,j] = A[i,j] * Q[i,d] * K[j,d]", over tensors,
    arrays and numbers given by name.

    Returns the results that no later statement uses, in order: one tensor, or a tuple of several.
    `out_format` is the format of the result, or a dict of formats by name. `out` is a tensor to
    which a dense result is written, or a dict of such tensors by name.
    """
    if unnamed or isinstance(out_format, Tensor | SparseTensor):
        raise _without_names("compute")
    if sizes:
        raise Unsupported("compute: sizes= is not supported yet; extents come from the operands.")
    check_text("compute", text, "C[i,k] = A[i,j] * B[j,k]")
    if is_compiling():
        return _run_in_graph(text, out_format, out, tuple(operands), tuple(operands.values()))
    return _run(text, out_format, out, operands)


def _run(text: str, out_format: OutFormat, out: Out, operands: Mapping[str, Any]) -> Any:
    formats = () if out_format is None else out_formats(out_format)
    names, tensors = by_name(operands)
    return _site(text, formats, names).run_on(tensors, out)


@recorded
def _run_in_graph(
    text: str, out_format: OutFormat, out: Out, names: tuple[str, ...], values: tuple[Any, ...]
) -> Any:
    return _run(text, out_format, out, dict(zip(names, values, strict=True)))


@lru_cache(maxsize=4096)
def _site(text: str, formats: tuple[tuple[str, str], ...], names: tuple[str, ...]) -> CallSite:
    return CallSite(lambda operands: (statement_program(text, formats), names, operands))


def prepare(
    caller: str, text: str, operands: Sequence[Any], named: Mapping[str, Any], out_format: OutFormat
) -> tuple[Program, tuple[str, ...], list[Operand]]:
    """The program of an einsum (operands in order) or of statements (operands by name), and the
    names and operands that it runs on."""
    check_text(caller, text, "ij,jk->ik")
    if "=" in text:
        if operands:
            raise _without_names(caller)
        return statement_program(text, out_formats(out_format)), *by_name(named)
    if named:
        raise UserError(
            f"{caller}: the operands of an einsum are given in order, without names, and there is "
            f"no argument '{next(iter(named))}'."
        )
    return einsums.prepare(text, operands, out_format)


def _without_names(caller: str) -> UserError:
    return UserError(f"{caller}: the operands of index notation are given by name, A=A.")


def by_name(operands: Mapping[str, Any]) -> tuple[tuple[str, ...], list[Operand]]:
    """Names and tensors. Numbers come last, because their types follow from the other operands."""
    for value in operands.values():
        if type(value) is SparseTensor:
            continue
        if type(value) is not Tensor or value.layout is not torch.strided:
            return _converted(operands)
    return tuple(operands), list(operands.values())


def _converted(operands: Mapping[str, Any]) -> tuple[tuple[str, ...], list[Operand]]:
    """As `by_name`, for operands that may be anything."""
    tensors: dict[str, Operand] = {}
    numbers: dict[str, float] = {}
    for name, value in operands.items():
        if not isinstance(value, SparseTensor | Tensor) and is_number(value):
            numbers[name] = value
        else:
            tensors[name] = as_operand(name, value)
    if numbers:
        others = list(tensors.values())
        for name, number in numbers.items():
            tensors[name] = as_scalar(number, others)
    return tuple(tensors), list(tensors.values())
