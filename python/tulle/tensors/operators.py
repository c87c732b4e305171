"""Operators and methods of sparse tensors that are short for others."""

from __future__ import annotations

from typing import Any, NoReturn

import torch

from tulle.support.errors import Unsupported


def _binary(operator: str, left: Any, right: Any) -> Any:
    from tulle.operators import arithmetic

    return arithmetic.binary(operator, left, right)


def _function(name: str, operand: Any) -> Any:
    from tulle.operators import arithmetic

    return arithmetic.element_function(name, operand)


def _reduction(name: str, operand: Any, dim: Any, keepdim: bool, stored: bool) -> Any:
    from tulle.operators import arithmetic

    return arithmetic.reduce_over(name, operand, dim, keepdim, stored)


class Operators:
    """What `SparseTensor` inherits."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return _binary("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return _binary("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return _binary("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _binary("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return _binary("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _binary("*", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _binary("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _binary("/", other, self)

    def __neg__(self) -> Any:
        return _function("neg", self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return _function("abs", self)

    def sum(self: Any, dim: int | tuple[int, ...] | None = None, keepdim: bool = False) -> Any:
        """The sum over one dimension, several or all; integers are summed as int64, as in torch."""
        from tulle.operators import arithmetic

        return arithmetic.sum_over(self, dim, keepdim)

    def mean(self: Any, dim: Any = None, keepdim: bool = False, *, stored: bool = False) -> Any:
        """The mean over one dimension, several or all, absent elements included; with `stored` of
        the stored ones, 0 where there are none."""
        return _reduction("mean", self, dim, keepdim, stored)

    def amax(self: Any, dim: Any = None, keepdim: bool = False, *, stored: bool = False) -> Any:
        """The largest element along one dimension, several or all, absent ones included; with
        `stored` the largest stored one, -inf where there is none."""
        return _reduction("amax", self, dim, keepdim, stored)

    def amin(self: Any, dim: Any = None, keepdim: bool = False, *, stored: bool = False) -> Any:
        """As `amax`, the smallest."""
        return _reduction("amin", self, dim, keepdim, stored)

    def prod(self: Any, dim: Any = None, keepdim: bool = False, *, stored: bool = False) -> Any:
        """The product over one dimension, several or all, absent elements included; with `stored`
        that of the stored ones. Integers are multiplied as int64, as in torch."""
        return _reduction("prod", self, dim, keepdim, stored)

    def argmax(
        self: Any, dim: int | None = None, keepdim: bool = False, *, stored: bool = False
    ) -> Any:
        """Where the largest element along a dimension is, the first one of several; absent ones
        are included, but for `stored`, where it is -1 if there is none. A tensor with several
        dimensions needs `dim`."""
        return _reduction("argmax", self, dim, keepdim, stored)

    def argmin(
        self: Any, dim: int | None = None, keepdim: bool = False, *, stored: bool = False
    ) -> Any:
        """As `argmax`, of the smallest."""
        return _reduction("argmin", self, dim, keepdim, stored)

    def logsumexp(self: Any, dim: Any, keepdim: bool = False, *, stored: bool = False) -> Any:
        """The logarithm of the sum of exponentials, absent elements included; with `stored` of the
        stored ones."""
        return _reduction("logsumexp", self, dim, keepdim, stored)

    def softmax(self: Any, dim: int) -> Any:
        """The softmax along a dimension over the stored entries, as torch.sparse.softmax."""
        from tulle.operators import arithmetic

        return arithmetic.softmax("softmax", self, dim)

    def log_softmax(self: Any, dim: int) -> Any:
        """The logarithm of `softmax`."""
        from tulle.operators import arithmetic

        return arithmetic.softmax("log_softmax", self, dim)

    # ---- shorthands ----------------------------------------------------------------------------

    def float(self: Any) -> Any:
        """With values of float32."""
        return self.to(torch.float32)

    def half(self: Any) -> Any:
        """With values of float16."""
        return self.to(torch.float16)

    def bfloat16(self: Any) -> Any:
        """With values of bfloat16."""
        return self.to(torch.bfloat16)

    def double(self: Any) -> Any:
        """With values of float64."""
        return self.to(torch.float64)

    def cpu(self: Any) -> Any:
        """On the CPU."""
        return self.to("cpu")

    def cuda(self: Any, device: Any = None) -> Any:
        """On the current GPU, or on the one that is given, by its number or as a device."""
        if isinstance(device, int):
            device = f"cuda:{device}"
        return self.to("cuda" if device is None else device)

    # ---- what this version does not have -------------------------------------------------------

    def _compared(self, operator: str, other: object) -> Any:
        from tulle.programs import operands

        if not (operands.is_operand(other) or operands.is_number(other)):
            return NotImplemented
        raise Unsupported(
            f"'{operator}' of a sparse tensor is not supported. Compare what to_dense() gives, or "
            "values() of tensors that have one pattern; 'A is B' asks for the same object."
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

    def __getitem__(self, index: Any) -> NoReturn:
        raise Unsupported(
            "Slices of sparse tensors are not supported. Take them of to_dense(), or of "
            "to_scipy() and give the result to tulle.tensor."
        )

    def __iter__(self) -> NoReturn:
        raise Unsupported("Sparse tensors are not iterated over; entries() has their entries.")
