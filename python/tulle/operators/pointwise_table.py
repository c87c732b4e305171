"""Torch's functions that compute each element from the elements at the same coordinate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


class Absent(Enum):
    """When an element of the result is absent. The entries of a result never depend on values."""

    # Where the only operand is absent: the function maps 0 to 0 for all values of its options.
    WITH_OPERAND = auto()
    # Where all sparse operands are absent, if the function maps their zeros to 0. Otherwise, and
    # beside dense operands, the result is dense.
    IF_ZERO = auto()
    # Where the first operand is absent: a quotient.
    WITH_FIRST = auto()
    # Where one of the operands is absent: a product.
    WITH_ANY = auto()
    # As IF_ZERO for where(condition, x, y), which may leave dense operands unread.
    CHOICE = auto()


@dataclass(frozen=True)
class Pointwise:
    """A function, and when its results are absent."""

    name: str
    function: Callable[..., Any]
    absent: Absent


_NAMES_BY_ABSENCE = {
    Absent.WITH_OPERAND: """
        abs absolute angle arcsin arcsinh arctan arctanh asin asinh atan atanh bernoulli bessel_j1
        ceil celu conj conj_physical deg2rad dropout elu erf erfinv expm1 fix floor frac gelu
        hardshrink hardswish i1 i1e isinf isnan isneginf isposinf leaky_relu log1p mish
        modified_bessel_i1 neg negative positive rad2deg real relu relu6 resolve_conj resolve_neg
        round rrelu selu sgn sign signbit silu sin sinh softshrink softsign sqrt square tan tanh
        tanhshrink trunc""",
    Absent.IF_ZERO: """
        acos acosh airy_ai arccos arccosh arctan2 atan2 bessel_j0 bessel_y0 bessel_y1 bitwise_not
        bitwise_or bitwise_xor chebyshev_polynomial_t chebyshev_polynomial_u
        chebyshev_polynomial_v chebyshev_polynomial_w clamp clamp_max clamp_min clip cos cosh
        digamma entr eq erfc erfcx exp exp2 expit float_power fmax fmin gammainc gammaincc gammaln
        gcd ge greater greater_equal gt hardsigmoid hardtanh heaviside hermite_polynomial_h
        hermite_polynomial_he hypot i0 i0e igamma igammac isclose isfinite isreal
        laguerre_polynomial_l lcm le legendre_polynomial_p lerp less less_equal lgamma log log10
        log2 log_ndtr logaddexp logaddexp2 logical_not logical_or logical_xor logit logsigmoid lt
        maximum minimum modified_bessel_i0 modified_bessel_k0 modified_bessel_k1 multigammaln
        mvlgamma nan_to_num ndtr ndtri ne nextafter not_equal pow psi reciprocal rsqrt
        scaled_modified_bessel_k0 scaled_modified_bessel_k1 shifted_chebyshev_polynomial_t
        shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
        shifted_chebyshev_polynomial_w sigmoid sinc softplus spherical_bessel_j0 threshold zeta""",
    Absent.WITH_FIRST: """
        bitwise_left_shift bitwise_right_shift copysign floor_divide fmod ldexp remainder xlog1py
        xlogy""",
    Absent.WITH_ANY: "bitwise_and logical_and",
    Absent.CHOICE: "where",
}
_ABSENCE = {name: absent for absent, names in _NAMES_BY_ABSENCE.items() for name in names.split()}


def _functions(name: str) -> Iterator[Any]:
    """The functions of torch with this name: torch.abs, torch.special.erf, functional.relu."""
    for place in (torch, torch.special, functional):
        function = getattr(place, name, None)
        if function is not None:
            yield function


def _all() -> Iterator[tuple[Any, Pointwise]]:
    """What callers write, and the function that computes it."""
    for name, absent in _ABSENCE.items():
        for function in _functions(name):
            yield function, Pointwise(name, function, absent)
        if hasattr(Tensor, name):
            method = getattr(Tensor, name)
            yield method, Pointwise(name, next(_functions(name), method), absent)


# By the function or the method of torch that a caller writes.
BY_FUNCTION: dict[Any, Pointwise] = dict(_all())
# By the name of a method of tensors.
METHODS: dict[str, Pointwise] = {
    name: BY_FUNCTION[getattr(Tensor, name)] for name in _ABSENCE if hasattr(Tensor, name)
}
# The methods of operators. Those of the reversed ones are `REVERSED`.
OPERATORS = {
    "__eq__": "eq",
    "__ne__": "ne",
    "__lt__": "lt",
    "__le__": "le",
    "__gt__": "gt",
    "__ge__": "ge",
    "__and__": "bitwise_and",
    "__or__": "bitwise_or",
    "__xor__": "bitwise_xor",
    "__pow__": "pow",
    "__mod__": "remainder",
    "__floordiv__": "floor_divide",
    "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift",
}
REVERSED = {
    "__rand__": "bitwise_and",
    "__ror__": "bitwise_or",
    "__rxor__": "bitwise_xor",
    "__rpow__": "pow",
    "__rmod__": "remainder",
    "__rfloordiv__": "floor_divide",
    "__rlshift__": "bitwise_left_shift",
    "__rrshift__": "bitwise_right_shift",
}
