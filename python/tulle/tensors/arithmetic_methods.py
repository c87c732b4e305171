"""The operators and products of sparse tensors."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from tulle.support.errors import Unsupported
from tulle.support.kinds import is_number
from tulle.tensors import operations
from tulle.tensors.stored_tensor import StoredTensor, is_operand


class ArithmeticMethods(StoredTensor):
    """`+ - * /`, `@` and comparisons."""

    __slots__ = ()
    __array_ufunc__ = None  # makes NumPy call __rmatmul__ and others for `array @ A`

    def __add__(self, other: Any) -> Any:
        return operations.installed.binary("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return operations.installed.binary("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return operations.installed.binary("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return operations.installed.binary("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return operations.installed.binary("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return operations.installed.binary("*", other, self)

    def __truediv__(self, other: Any) -> Any:
        return operations.installed.binary("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return operations.installed.binary("/", other, self)

    def __neg__(self) -> Any:
        return operations.installed.element_function("neg", self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return operations.installed.element_function("abs", self)

    # ---- products ------------------------------------------------------------------------------

    # `operators.installation` replaces this method by the call site of products.
    def __matmul__(self, other: Any) -> Any:
        return operations.installed.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return operations.installed.matmul(other, self)

    def matmul(self, other: Any, *, out: Tensor | None = None) -> Any:
        """`self @ other`. A dense result is written to `out` if it is given."""
        if out is None:
            return operations.installed.matmul(self, other)
        return operations.installed.matmul_into(self, other, out)

    mm = matmul

    # ---- comparisons ---------------------------------------------------------------------------

    def _compared(self, operator: str, other: object) -> Any:
        if not (is_operand(other) or is_number(other)):
            return NotImplemented
        raise Unsupported(
            f"'{operator}' of a sparse tensor is not supported. Compare to_dense(), or the "
            "values() of tensors that share a pattern; 'A is B' tests for the same object."
        )

    def __eq__(self, other: object) -> Any:
        return self._compared("==", other)

    def __ne__(self, other: object) -> Any:
        return self._compared("!=", other)

    def __lt__(self, other: object) -> Any:
        return self._compared("<", other)

    def __le__(self, other: object) -> Any:
        return self._compared("<=", other)

    def __gt__(self, other: object) -> Any:
        return self._compared(">", other)

    def __ge__(self, other: object) -> Any:
        return self._compared(">=", other)

    __hash__ = object.__hash__
