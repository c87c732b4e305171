"""Tulle: a sparse tensor compiler for PyTorch."""

from __future__ import annotations

from tulle import _library, torch_functions
from tulle.background import finish_compiling
from tulle.einsums import einsum
from tulle.errors import InternalError, Unsupported, UserError
from tulle.explanations import Explanation, explain
from tulle.formats import Format
from tulle.imports import from_levels, tensor
from tulle.kernels import Kernel, kernel
from tulle.limits import set_dense_limit
from tulle.notation import compute
from tulle.sparse_tensor import SparseTensor
from tulle.tuning import tune
from tulle.tuning_result import Tuned
from tulle.tuning_space import Space

__version__: str = _library.version

torch_functions.register()

__all__ = [
    "Explanation",
    "Format",
    "InternalError",
    "Kernel",
    "Space",
    "SparseTensor",
    "Tuned",
    "Unsupported",
    "UserError",
    "__version__",
    "compute",
    "einsum",
    "explain",
    "finish_compiling",
    "from_levels",
    "kernel",
    "set_dense_limit",
    "tensor",
    "tune",
]


def __dir__() -> list[str]:
    """What is for users: no modules, which are how it is made."""
    return sorted(__all__)
