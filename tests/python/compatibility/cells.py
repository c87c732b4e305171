"""One cell of the table: what torch and Tulle do with a function and a format."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

import torch
from torch import Tensor

import tulle
from compatibility.operands import Operands, as_dense

Call = Callable[[Operands], Any]


@dataclass(frozen=True, eq=False)
class Row:
    """A function of the table. `call` takes the operands of any side. `expected` computes the
    result from dense operands, where `call` does not. Without a result of either, torch's result
    counts."""

    name: str
    call: Call
    expected: Call | None = None
    # What Tulle's users write where torch's function takes tensors of torch only.
    on_tulle: Call | None = None
    # Whether the result has a gradient, and gradients are compared.
    has_gradient: bool = True
    # Whether the result depends on the layout, so that only torch's result counts.
    of_layout: bool = False
    # The layouts with which torch ends the process.
    crashes: tuple[str, ...] = ()
    # Why Tulle's answer differs from torch's on purpose.
    differs: str = ""


class Outcome(Enum):
    """What happened on one side."""

    REFUSED = "-"
    CRASH = "crash"
    WRONG = "wrong"
    NO_GRADIENT = "no gradient"
    WRONG_GRADIENT = "wrong gradient"
    RIGHT = "yes"


@dataclass(frozen=True)
class Cell:
    """The outcomes of both sides. `reason` says why Tulle's is not RIGHT."""

    torch: Outcome
    tulle: Outcome
    reason: str


@dataclass(frozen=True)
class _Answer:
    """The results of a function, and the gradients of the operands; the error of whichever failed
    first."""

    result: Any = None
    gradients: list[Tensor] | None = None
    error: Exception | None = None


@cache
def cell(row: Row, column: str) -> Cell:
    """Computes a cell."""
    on_torch = _Answer(error=RuntimeError("crash"))
    if column not in row.crashes:
        on_torch = _answer(row, Operands("torch", column, row.has_gradient), row.call)
    on_tulle = _answer(row, Operands("tulle", column, row.has_gradient), row.on_tulle or row.call)
    wanted = on_torch
    if not row.of_layout:
        oracle = Operands("dense", column, row.has_gradient)
        wanted = _answer(row, oracle, row.expected or row.call)
        if wanted.result is None:
            raise AssertionError(f"{row.name}: no dense result: {wanted.error}")
    ours, reason = _judge(on_tulle, wanted)
    theirs = Outcome.CRASH if column in row.crashes else _judge(on_torch, wanted)[0]
    return Cell(theirs, ours, reason)


def _answer(row: Row, operands: Operands, call: Call) -> _Answer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = as_dense(call(operands))
        except Exception as error:
            return _Answer(error=error)
        if not row.has_gradient:
            return _Answer(result)
        try:
            _loss(result).backward()
            gradients = [_gradient(*one) for one in operands.asked]
        except Exception as error:
            return _Answer(result, error=error)
    return _Answer(result, gradients)


def _loss(result: Any) -> Tensor:
    """A sum with weights that differ for all elements."""
    tensors = result if isinstance(result, list) else [result]
    total = torch.zeros((), dtype=torch.float64)
    for tensor in tensors:
        if tensor.is_floating_point():
            weights = torch.linspace(0.5, 1.5, tensor.numel(), dtype=tensor.dtype)
            total = total + (tensor.reshape(-1) * weights).sum()
    return total


def _gradient(operand: Any, entries: Tensor | None) -> Tensor:
    """The gradient of an operand at its entries, as a dense tensor."""
    if operand.grad is None:
        raise ValueError("an operand has no gradient")
    if isinstance(operand, tulle.SparseTensor):
        found = operand.with_values(operand.grad).to_dense()
    else:
        found = as_dense(operand.grad.detach())
    return found if entries is None else torch.where(entries, found, 0)


def _judge(found: _Answer, wanted: _Answer) -> tuple[Outcome, str]:
    if found.result is None:
        return Outcome.REFUSED, repr(found.error)
    if wanted.result is None:  # of a layout that torch does not have
        return Outcome.RIGHT, ""
    difference = _difference(found.result, wanted.result)
    if difference:
        return Outcome.WRONG, difference
    if wanted.gradients is None:
        return Outcome.RIGHT, ""
    if found.gradients is None:
        return Outcome.NO_GRADIENT, repr(found.error)
    difference = _difference(found.gradients, wanted.gradients)
    return (Outcome.WRONG_GRADIENT, difference) if difference else (Outcome.RIGHT, "")


def _difference(found: Any, wanted: Any) -> str:
    """How two results differ; "" if they are equal."""
    try:
        if isinstance(wanted, Tensor | list):
            torch.testing.assert_close(found, wanted, equal_nan=True)
        elif found != wanted:
            return f"{found} is not {wanted}"
    except (AssertionError, TypeError) as error:
        return str(error)
    return ""
