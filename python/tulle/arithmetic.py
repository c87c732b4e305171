"""Operators on sparse tensors: each becomes a line of index notation."""

from __future__ import annotations

import torch
from torch import Tensor

from tulle import _library
from tulle.arguments import dimension_of
from tulle.errors import UserError
from tulle.operands import as_operand, as_scalar, index_names, is_number, is_operand
from tulle.programs import Operand, Program, Result, compiled, execute_one, spec_of
from tulle.sparse_tensor import SparseTensor

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
    if found.is_one_dense and count <= _library.MAX_TENSORS:
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


def sum_over(
    operand: SparseTensor, dim: int | tuple[int, ...] | None = None, keepdim: bool = False
) -> Result:
    """The sum over one dimension, several or all."""
    rank = operand.ndim
    given = range(rank) if dim is None else dim if isinstance(dim, tuple | list) else (dim,)
    summed = {dimension_of("sum", d, rank) for d in given} or set(range(rank))
    indices = index_names(rank)
    kept = [index for d, index in enumerate(indices) if d not in summed]
    if not operand.dtype.is_floating_point:
        operand = operand.to(dtype=torch.int64)
    result = _run(f"{_access('C', kept)} = {_access('A', indices)}", operand)
    if not keepdim:
        return result
    shape = [1 if d in summed else size for d, size in enumerate(operand.shape)]
    dense = result.to_dense() if isinstance(result, SparseTensor) else result
    return dense.reshape(shape)
