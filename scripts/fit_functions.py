"""Fits the polynomials of src/passes/function_coefficients.h and prints that file.

Each polynomial interpolates a function at Chebyshev nodes. Its error is within a small factor of
the best polynomial of its degree. The computation uses 60 digits and rounds each coefficient once.
Run the script after changing a degree or an interval:

    python3 scripts/fit_functions.py > src/passes/function_coefficients.h && make format
"""

import math
from decimal import Decimal, getcontext

getcontext().prec = 60
LN2 = Decimal(2).ln()


def expm1_rest(r: Decimal) -> Decimal:
    """(exp(r) - 1 - r) / r^2"""
    term, total = Decimal(1) / 2, Decimal(0)
    for n in range(3, 60):
        total += term
        term = term * r / n
    return total


def log_rest(z: Decimal) -> Decimal:
    """(log((1+s) / (1-s)) - 2s) / s^3 with z = s^2"""
    return sum(Decimal(2) / (2 * n + 3) * z**n for n in range(60))


def tanh_rest(z: Decimal) -> Decimal:
    """(tanh(x) - x) / x^3 with z = x^2"""
    x = z.sqrt()
    sinh, cosh, term = Decimal(0), Decimal(0), Decimal(1)
    for n in range(80):
        if n % 2:
            sinh += term
        else:
            cosh += term
        term = term * x / (n + 1)
    return (sinh / cosh - x) / x**3


def sinh_rest(z: Decimal) -> Decimal:
    """(sinh(x) - x) / x^3 with z = x^2"""
    total, term = Decimal(0), Decimal(1) / 6
    for n in range(2, 60):
        total += term
        term = term * z / (2 * n * (2 * n + 1))
    return total


def erf_rest(z: Decimal) -> Decimal:
    """erf(x) / x - 1 with z = x^2"""
    total, term = Decimal(0), Decimal(1)
    for n in range(200):
        total += term / (2 * n + 1)
        term = -term * z / (n + 1)
    return 2 / PI.sqrt() * total - 1


def pi() -> Decimal:
    """Pi, by Machin's formula."""

    def atan_inverse(n: int) -> Decimal:
        return sum((-1) ** k / (Decimal(2 * k + 1) * Decimal(n) ** (2 * k + 1)) for k in range(60))

    return 4 * (4 * atan_inverse(5) - atan_inverse(239))


PI = pi()


def erfc_scaled(x: Decimal) -> Decimal:
    """exp(x^2) * erfc(x), by a continued fraction for large x and a series for small x."""
    if x > 3:
        tail = Decimal(0)
        for n in range(400, 0, -1):
            tail = (Decimal(n) / 2) / (x + tail)
        return 1 / ((x + tail) * PI.sqrt())
    getcontext().prec = 100
    erf = x * (erf_rest(x * x) + 1)
    scaled = (x * x).exp() * (1 - erf)
    getcontext().prec = 60
    return +scaled


def mapped(x: Decimal) -> Decimal:
    return (x - 2) / (x + 2)


def erfc_mapped(t: Decimal) -> Decimal:
    """exp(x^2) * erfc(x) with t = (x - 2) / (x + 2)"""
    return erfc_scaled(2 * (1 + t) / (1 - t))


def interpolate(function, low: Decimal, high: Decimal, degree: int) -> list[Decimal]:
    """The coefficients of the interpolating polynomial, lowest first."""
    count = degree + 1
    nodes = []
    for i in range(count):
        t = Decimal(math.cos((2 * i + 1) * math.pi / (2 * count)))
        nodes.append((low + high) / 2 + (high - low) / 2 * t)
    # Newton's divided differences, expanded into powers.
    table = [function(node) for node in nodes]
    for step in range(1, count):
        for i in range(count - 1, step - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (nodes[i] - nodes[i - step])
    result = [table[-1]]
    for i in range(count - 2, -1, -1):
        shifted = [Decimal(0), *result]
        for n, value in enumerate(result):
            shifted[n] -= nodes[i] * value
        shifted[0] += table[i]
        result = shifted
    return result


def error(function, coefficients, low, high) -> float:
    worst = Decimal(0)
    for i in range(1, 400):
        x = low + (high - low) * i / 400
        value = sum((c * x**n for n, c in enumerate(coefficients)), Decimal(0))
        worst = max(worst, abs(value - function(x)))
    return float(worst)


HALF_LN2 = LN2 / 2 * Decimal("1.0001")
TINY = Decimal("1e-12")
# name, function, interval, degrees for f32 and f64
FITS = [
    ("Expm1", expm1_rest, -HALF_LN2, HALF_LN2, 5, 10),
    ("Log", log_rest, Decimal(0), Decimal("0.02944"), 3, 6),
    ("Tanh", tanh_rest, TINY, Decimal("0.31"), 5, 10),
    ("Sinh", sinh_rest, Decimal(0), Decimal(1), 3, 8),
    ("Erf", erf_rest, TINY, Decimal("0.86"), 6, 12),
    ("Erfc", erfc_mapped, mapped(Decimal("0.92")), mapped(Decimal(6)), 8, 18),
]

HEAD = """// Polynomials of elementary functions, lowest coefficient first.
// Written by scripts/fit_functions.py.
#pragma once

#include <array>

namespace tulle::passes {
"""


def main() -> None:
    print(HEAD)
    for name, function, low, high, single, double in FITS:
        for suffix, degree in (("32", single), ("64", double)):
            coefficients = interpolate(function, low, high, degree)
            worst = error(function, coefficients, low, high)
            print(f"// On [{float(low):.6g}, {float(high):.6g}], off by at most {worst:.2g}.")
            values = ", ".join(repr(float(c)) for c in coefficients)
            print(f"constexpr std::array k{name}{suffix} = {{{values}}};")
        print()
    print("}  // namespace tulle::passes")


if __name__ == "__main__":
    main()
