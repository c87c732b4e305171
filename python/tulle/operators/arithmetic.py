"""Products and elementwise operators of sparse tensors: each becomes a line of index notation."""

from __future__ import annotations

from torch import Tensor

from tulle.library import bindings
from tulle.operators.index_notation import OPERAND_NAMES, access, index_names, run
from tulle.programs.bound_calls import bind
from tulle.programs.execution import execute_one
from tulle.programs.operands import as_operand, as_scalar
from tulle.programs.program import Operand, Program, Result
from tulle.programs.resolved_program import resolve
from tulle.support.errors import UserError
from tulle.support.kinds import is_number
from tulle.tensors.sparse_tensor import SparseTensor
from tulle.tensors.stored_tensor import is_operand

# ---- products ----------------------------------------------------------------------------------


def matmul(left: object, right: object, out: Tensor | None = None) -> Result:
    """The product of vectors, matrices or batches of matrices, as torch.matmul."""
    if not (is_operand(left) and is_operand(right)):
        return NotImplemented
    a, b = as_operand("A", left), as_operand("B", right)
    if a.ndim == 0 or b.ndim == 0:
        raise UserError("'@' multiplies vectors and matrices; multiply by a scalar with '*'.")
    a_batch, b_batch, batch = _batch_indices(tuple(a.shape[:-2]), tuple(b.shape[:-2]))
    rows = ["i"] if a.ndim > 1 else []
    columns = ["k"] if b.ndim > 1 else []
    c_access = access("C", [*batch, *rows, *columns])
    a_access = access("A", [*a_batch, *rows, "j"])
    b_access = access("B", [*b_batch, "j", *columns])
    program = Program(f"{c_access} = {a_access} * {b_access}")
    result = execute_one(program, OPERAND_NAMES, (a, b), out)
    if isinstance(a, SparseTensor) and a.ndim <= 2 and type(b) is Tensor:
        _remember(a, b, program)
    return result


def _remember(a: SparseTensor, b: Tensor, program: Program) -> None:
    """Binds the program to the pattern, for later products with dense tensors of this type and
    rank."""
    found = resolve(program, OPERAND_NAMES, (a, b))
    count = len(a.pattern.arrays) + 2
    if found.has_one_dense_result and count <= bindings.MAX_TENSORS:
        a.remember(b, *bind(a.pattern, found.key))


def _batch_indices(
    a: tuple[int, ...], b: tuple[int, ...]
) -> tuple[list[str], list[str], list[str]]:
    """The indices of the leading dimensions of both operands and of the result."""
    return _broadcast(a, b, [f"b{n}" for n in range(max(len(a), len(b)))])


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


def binary(operator: str, left: object, right: object) -> Result:
    """left + - * / right for each element; dimensions of size 1 are broadcast as in torch."""
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
    text = f"{access('C', out)} = {access('A', a_names)} {operator} {access('B', b_names)}"
    return run(text, a, b)


def element_function(name: str, operand: SparseTensor) -> Result:
    """A function of one argument for each element."""
    indices = index_names(operand.ndim)
    return run(f"{access('C', indices)} = {name}({access('A', indices)})", operand)
