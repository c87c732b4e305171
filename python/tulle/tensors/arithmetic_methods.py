"""The operators and products of sparse tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

from tulle.support.arguments import check_ranks
from tulle.tensors import operations
from tulle.tensors.stored_tensor import StoredTensor


class ArithmeticMethods(StoredTensor):
    """`+ - * /` and `@`."""

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
        if type(other) is float or type(other) is int:
            return type(self)(self._pattern, self._values * other)
        return operations.installed.binary("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        if type(other) is float or type(other) is int:
            return type(self)(self._pattern, self._values * other)
        return operations.installed.binary("*", other, self)

    def __truediv__(self, other: Any) -> Any:
        if type(other) is float or type(other) is int:
            return type(self)(self._pattern, self._values / other)
        return operations.installed.binary("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return operations.installed.binary("/", other, self)

    def __neg__(self) -> Any:
        return type(self)(self._pattern, -self._values)

    def __pos__(self) -> Any:
        return self

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

    def mm(self, mat2: Any, *, out: Tensor | None = None) -> Any:
        """`matmul` of two matrices."""
        check_ranks("mm", self, 2, mat2, 2)
        return self.matmul(mat2, out=out)

    if TYPE_CHECKING:
        # `operators.methods` defines these and further methods of elementwise functions.
        def __eq__(self, other: object) -> Any: ...
        def __ne__(self, other: object) -> Any: ...
        def __lt__(self, other: Any) -> Any: ...
        def __le__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...
        def __ge__(self, other: Any) -> Any: ...
        def __and__(self, other: Any) -> Any: ...
        def __or__(self, other: Any) -> Any: ...
        def __xor__(self, other: Any) -> Any: ...
        def __invert__(self) -> Any: ...
        def __abs__(self) -> Any: ...
        def __pow__(self, other: Any) -> Any: ...
        def __rpow__(self, other: Any) -> Any: ...
        def __mod__(self, other: Any) -> Any: ...
        def __floordiv__(self, other: Any) -> Any: ...

    __hash__ = object.__hash__
