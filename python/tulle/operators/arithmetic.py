"""Products and elementwise operators of sparse tensors: each becomes a line of index notation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeGuard

import torch
from torch import Tensor

from tulle.operators.index_notation import OPERAND_NAMES, access, index_names
from tulle.programs.call_sites import CallSite
from tulle.programs.operands import as_operand, as_scalar
from tulle.programs.program import Program, Result, statement_program
from tulle.support.arguments import check_product, common_shape
from tulle.support.errors import UserError
from tulle.support.kinds import is_number
from tulle.tensors.composite_pattern import CompositePattern, joined
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.sparse_tensor import SparseTensor
from tulle.tensors.stored_tensor import is_operand

# ---- products ----------------------------------------------------------------------------------


def _prepare_matmul(operands: Sequence[Any]) -> Any:
    left, right = operands
    if not (is_operand(left) and is_operand(right)):
        return NotImplemented
    a, b = as_operand("A", left), as_operand("B", right)
    if a.ndim == 0 or b.ndim == 0:
        raise UserError("'@' multiplies vectors and matrices; multiply by a scalar with '*'.")
    check_product("'@'", tuple(a.shape), tuple(b.shape))
    program = _product(a.ndim, b.ndim, tuple(a.shape[:-2]), tuple(b.shape[:-2]))
    return program, OPERAND_NAMES, (a, b)


_MATMUL = CallSite(_prepare_matmul, broadcast_rank=3, has_graph_call=True, is_product=True)

# `matmul` for a sparse tensor on the left.
sparse_matmul: Callable[[object, object], Any] = _MATMUL.run_on_two


def matmul(left: object, right: object) -> Any:
    """The product of vectors, matrices or batches of matrices, as torch.matmul. NotImplemented if
    an operand is no tensor."""
    if type(right) is SparseTensor and isinstance(left, Tensor) and right.ndim == 2:
        return dense_times_transposed(left, right.T)
    return sparse_matmul(left, right)


def dense_times_transposed(left: Tensor, matrix: SparseTensor) -> Any:
    """left @ matrix.T, computed as the transpose of matrix @ left.T. Its inner loop runs along the
    rows of `left`, which are contiguous there, and not along the entries of the matrix."""
    if left.ndim < 2 or left.layout != torch.strided or matrix.ndim != 2:
        return sparse_matmul(left, matrix.T)
    rows = left.shape[:-1].numel()
    if rows == 1 or left.shape[-1] != matrix.shape[1]:  # the compiler names sizes that differ
        return sparse_matmul(left, matrix.T)
    product = sparse_matmul(matrix, left.reshape(rows, left.shape[-1]).T)
    return product.T.contiguous().reshape(*left.shape[:-1], matrix.shape[0])


def matmul_into(left: object, right: object, out: Tensor) -> Result:
    """As `matmul`, but writes a dense result to `out`."""
    return _MATMUL.run((left, right), out)


@lru_cache(maxsize=1024)
def _product(
    a_rank: int, b_rank: int, a_batch: tuple[int, ...], b_batch: tuple[int, ...]
) -> Program:
    """The program of a product of operands with these ranks and leading sizes."""
    names = [f"b{n}" for n in range(max(len(a_batch), len(b_batch)))]
    a_indices, b_indices, batch = _broadcast(a_batch, b_batch, names)
    rows = ["i"] if a_rank > 1 else []
    columns = ["k"] if b_rank > 1 else []
    c_access = access("C", [*batch, *rows, *columns])
    a_access = access("A", [*a_indices, *rows, "j"])
    b_access = access("B", [*b_indices, "j", *columns])
    return statement_program(f"{c_access} = {a_access} * {b_access}")


def _broadcast(
    a: tuple[int, ...], b: tuple[int, ...], names: list[str]
) -> tuple[list[str], list[str], list[str]]:
    """The indices of two operands and of the result, aligned at the last dimension. A dimension of
    size 1 beside a larger one gets an index of its own, which is summed over. The compiler refuses
    sizes that differ otherwise."""
    a_names, b_names = names[len(names) - len(a) :], names[len(names) - len(b) :]
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] == 1 != b[-back]:
            a_names[-back] = f"one_{names[-back]}"
        elif b[-back] == 1 != a[-back]:
            b_names[-back] = f"one_{names[-back]}"
    return a_names, b_names, names


# ---- elementwise -------------------------------------------------------------------------------


@recorded
def binary(operator: str, left: object, right: object) -> Result:
    """left + - * / right for each element; dimensions of size 1 are broadcast as in torch."""
    if operator == "*" and _is_composite(right):
        left, right = right, left
    if _is_composite(left) and _keeps_parts(operator, left, right):
        pieces = [binary(operator, part, right)._values for part in left.parts()]
        return SparseTensor(left._pattern, joined(left._pattern, pieces))
    if operator in "+-" and type(left) is SparseTensor and is_number(right) and right == 0:
        return SparseTensor(left._pattern, left._values + right)
    if operator in "+-" and type(right) is SparseTensor and is_number(left) and left == 0:
        values = left + right._values if operator == "+" else left - right._values
        return SparseTensor(right._pattern, values)
    if type(right) is not Tensor and is_number(right):
        right = as_scalar(right, [as_operand("the other operand", left)])
    elif type(left) is not SparseTensor and is_number(left):
        left = as_scalar(left, [as_operand("the other operand", right)])
    return _BINARY[operator].run_on_two(left, right)


def _is_composite(operand: object) -> TypeGuard[SparseTensor]:
    return type(operand) is SparseTensor and type(operand._pattern) is CompositePattern


def _keeps_parts(operator: str, left: SparseTensor, right: object) -> bool:
    """Whether the parts of a composite tensor can be multiplied or divided one by one. Padding in
    the quotients of one part would hide quotients of another."""
    if not (is_number(right) or (isinstance(right, Tensor) and right.layout == torch.strided)):
        return False
    if isinstance(right, Tensor) and not _is_broadcast_to(right.shape, left.shape):
        return False
    return operator == "*" or (operator == "/" and not pads(left))


def _is_broadcast_to(own: Sequence[int], wanted: Sequence[int]) -> bool:
    return len(own) <= len(wanted) and all(
        size in (1, other) for size, other in zip(reversed(own), reversed(wanted), strict=False)
    )


def pads(composite: SparseTensor) -> bool:
    """Whether a part stores whole blocks, diagonals or rows, so that a coordinate may have two
    slots."""
    return any(
        level.part != "w" or (level.full and at > 0)
        for part in composite.format.parts
        for at, level in enumerate(part.format.levels)
    )


def _binary_site(operator: str) -> CallSite:
    def prepare(operands: Sequence[Any]) -> Any:
        left, right = operands
        if not (is_operand(left) and is_operand(right)):
            return NotImplemented
        a, b = as_operand("A", left), as_operand("B", right)
        program = _elementwise(operator, tuple(a.shape), tuple(b.shape))
        return program, OPERAND_NAMES, (a, b)

    return CallSite(prepare, broadcast_rank=1)


_BINARY = {operator: _binary_site(operator) for operator in "+-*/"}


@lru_cache(maxsize=4096)
def _elementwise(operator: str, a: tuple[int, ...], b: tuple[int, ...]) -> Program:
    """The program of an operator on operands with these shapes."""
    names = index_names(len(common_shape(f"'{operator}'", (a, b))))
    a_names, b_names, out = _broadcast(a, b, names)
    right = access("B", b_names)
    ones = [name for name in b_names if name not in out]
    if operator == "/" and ones:  # denominators contain no implicit sums
        right = f"sum(({','.join(ones)}), {right})"
    text = f"{access('C', out)} = {access('A', a_names)} {operator} {right}"
    return statement_program(text)
