"""Operators on sparse tensors: each becomes a line of index notation."""

from __future__ import annotations

from typing import TypeAlias

import torch
from torch import Tensor

from tulle.library import bindings
from tulle.programs.execution import Operand, Program, Result, compiled, execute_one, spec_of
from tulle.programs.operands import as_operand, as_scalar, index_names, is_number, is_operand
from tulle.support.arguments import dimension_of
from tulle.support.errors import UserError
from tulle.tensors.sparse_tensor import SparseTensor

_NAMES = ("A", "B")


def _run(text: str, *operands: Operand) -> Result:
    return execute_one(Program(text), _NAMES[: len(operands)], operands)


def _access(name: str, indices: list[str]) -> str:
    return f"{name}[{','.join(indices)}]" if indices else name


# ---- products ----------------------------------------------------------------------------------


def matmul(left: object, right: object, out: Tensor | None = None) -> Result:
    """As torch.matmul: vectors, matrices and batches of matrices."""
    if not (is_operand(left) and is_operand(right)):
        return NotImplemented
    a, b = as_operand("A", left), as_operand("B", right)
    if a.ndim == 0 or b.ndim == 0:
        raise UserError("'@' multiplies vectors and matrices; multiply by a scalar with '*'.")
    a_batch, b_batch, batch = _batch_indices(tuple(a.shape[:-2]), tuple(b.shape[:-2]))
    rows = ["i"] if a.ndim > 1 else []
    columns = ["k"] if b.ndim > 1 else []
    c_access = _access("C", [*batch, *rows, *columns])
    a_access = _access("A", [*a_batch, *rows, "j"])
    b_access = _access("B", [*b_batch, "j", *columns])
    program = Program(f"{c_access} = {a_access} * {b_access}")
    result = execute_one(program, _NAMES, (a, b), out)
    if isinstance(a, SparseTensor) and a.ndim <= 2 and type(b) is Tensor:
        _remember(a, b, program)
    return result


def _remember(a: SparseTensor, b: Tensor, program: Program) -> None:
    """Leaves a short way for the next product with a dense tensor of this type and rank."""
    found = compiled(program, (spec_of("A", a), spec_of("B", b)))
    count = len(a.pattern.arrays) + 2
    if found.is_one_dense and count <= bindings.MAX_TENSORS:
        a.remember(b, *a.pattern.bound(found.key))


def _batch_indices(
    a: tuple[int, ...], b: tuple[int, ...]
) -> tuple[list[str], list[str], list[str]]:
    """Indices of the leading dimensions of both and of the result: aligned at the end, those of
    size 1 broadcast."""
    return _broadcast(a, b, [f"b{n}" for n in range(max(len(a), len(b)))])


def _broadcast(
    a: tuple[int, ...], b: tuple[int, ...], names: list[str]
) -> tuple[list[str], list[str], list[str]]:
    """Gives both the result's indices, but another index, summed over, to a dimension of size 1
    beside a larger one. Sizes that differ otherwise are left for the compiler to refuse."""
    a_names, b_names = names[len(names) - len(a) :], names[len(names) - len(b) :]
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] == 1 != b[-back]:
            a_names[-back] = f"one_{names[-back]}"
        elif b[-back] == 1 != a[-back]:
            b_names[-back] = f"one_{names[-back]}"
    return a_names, b_names, names


# ---- elementwise -------------------------------------------------------------------------------


def binary(operator: str, left: object, right: object) -> Result:
    """left + - * / right, elementwise; dimensions of size 1 broadcast as in torch."""
    operands: list[Operand] = []
    for name, value, other in (("A", left, right), ("B", right, left)):
        if is_number(value):
            operands.append(as_scalar(value, [as_operand("the other operand", other)]))
        elif is_operand(value):
            operands.append(as_operand(name, value))
        else:
            return NotImplemented
    a, b = operands
    names = index_names(max(a.ndim, b.ndim))
    a_names, b_names, out = _broadcast(tuple(a.shape), tuple(b.shape), names)
    text = f"{_access('C', out)} = {_access('A', a_names)} {operator} {_access('B', b_names)}"
    return _run(text, a, b)


def element_function(name: str, operand: SparseTensor) -> Result:
    """A function of one argument that keeps zero, of every element."""
    indices = index_names(operand.ndim)
    return _run(f"{_access('C', indices)} = {name}({_access('A', indices)})", operand)


# ---- reductions --------------------------------------------------------------------------------


Dimensions: TypeAlias = int | tuple[int, ...] | None


def sum_over(operand: SparseTensor, dim: Dimensions = None, keepdim: bool = False) -> Result:
    """The sum over one dimension, several or all."""
    if not operand.dtype.is_floating_point:
        operand = operand.to(dtype=torch.int64)
    return _reduced("sum", operand, dim, keepdim, "{body}")


def reduce_over(
    name: str,
    operand: SparseTensor,
    dim: Dimensions = None,
    keepdim: bool = False,
    stored: bool = False,
) -> Result:
    """A reduction over one dimension, several or all: of every element, absent ones included, or of
    those that are stored."""
    if name == "prod" and not operand.dtype.is_floating_point:
        operand = operand.to(dtype=torch.int64)
    if name == "mean" and not operand.dtype.is_floating_point:
        raise UserError(f"mean: the tensor has the type {operand.dtype}; convert it with float().")
    if name in ("argmax", "argmin") and not isinstance(dim, int) and operand.ndim > 1:
        raise UserError(
            f"{name}: say along which dimension, {name}(1) say; that of all elements is "
            f"to_dense().{name}()."
        )
    spelled = {"amax": "max", "amin": "min"}.get(name, name)
    entries = " stored" if stored else ""
    return _reduced(name, operand, dim, keepdim, f"{spelled}({{over}}{entries}, {{body}})")


def _reduced(
    name: str, operand: SparseTensor, dim: Dimensions, keepdim: bool, template: str
) -> Result:
    rank = operand.ndim
    given = range(rank) if dim is None else dim if isinstance(dim, tuple | list) else (dim,)
    reduced = {dimension_of(name, d, rank) for d in given} or set(range(rank))
    indices = index_names(rank)
    kept = [index for d, index in enumerate(indices) if d not in reduced]
    over = ",".join(index for d, index in enumerate(indices) if d in reduced)
    over = f"({over})" if len(reduced) > 1 else over
    value = (
        template.format(over=over, body=_access("A", indices)) if over else _access("A", indices)
    )
    result = _run(f"{_access('C', kept)} = {value}", operand)
    if not keepdim:
        return result
    shape = [1 if d in reduced else size for d, size in enumerate(operand.shape)]
    dense = result.to_dense() if isinstance(result, SparseTensor) else result
    return dense.reshape(shape)


def softmax(name: str, operand: SparseTensor, dim: int) -> Result:
    """softmax or log_softmax along a dimension, over the entries that are stored."""
    if not operand.dtype.is_floating_point:
        raise UserError(f"{name}: the tensor has the type {operand.dtype}; convert with float().")
    indices = index_names(operand.ndim)
    access = _access("A", indices)
    along = indices[dimension_of(name, dim, operand.ndim)]
    return _run(f"{_access('C', indices)} = {name}({along} stored, {access})", operand)
