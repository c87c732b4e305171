"""What kind of object a caller passed."""

from __future__ import annotations

import numbers
from typing import TypeGuard

import numpy as np


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a Python number, whose type yields to the types of tensors."""
    return isinstance(value, numbers.Real) and not isinstance(value, np.ndarray)


def is_scipy(value: object) -> bool:
    """Whether it is a sparse matrix or array of SciPy, found without importing SciPy."""
    return any(kind.__module__.startswith("scipy.sparse") for kind in type(value).__mro__)


def is_from(package: str, value: object) -> bool:
    """Whether the package defines the class of the value or a base of it."""
    names = (kind.__module__ for kind in type(value).__mro__)
    return any(name == package or name.startswith(f"{package}.") for name in names)
