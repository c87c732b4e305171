"""Tulle: a sparse tensor compiler for PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from tulle import nn
from tulle.interchange.constructors import (
    diag,
    eye,
    full_like,
    ones_like,
    rand_like,
    randn_like,
    zeros,
    zeros_like,
)
from tulle.interchange.edge_lists import from_edge_index
from tulle.interchange.files import load, save
from tulle.interchange.imports import tensor
from tulle.interchange.levels import from_levels
from tulle.interchange.random_tensors import rand, randn
from tulle.library import bindings
from tulle.library.background import finish_compiling
from tulle.library.dense_limit import set_dense_limit
from tulle.notation.einsums import einsum
from tulle.notation.explanations import Explanation, explain
from tulle.notation.kernels import Kernel, kernel
from tulle.notation.statements import compute
from tulle.operators import installation
from tulle.support import hints
from tulle.support.errors import InternalError, Unsupported, UserError
from tulle.support.text import nearest
from tulle.tensors.formats import Format
from tulle.tensors.sparse_tensor import SparseTensor
from tulle.tuning.result import Tuned
from tulle.tuning.space import Space
from tulle.tuning.tune import tune

__version__: str = bindings.version

installation.install()

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
    "diag",
    "einsum",
    "explain",
    "eye",
    "finish_compiling",
    "from_edge_index",
    "from_levels",
    "full_like",
    "kernel",
    "load",
    "nn",
    "ones_like",
    "rand",
    "rand_like",
    "randn",
    "randn_like",
    "save",
    "set_dense_limit",
    "tensor",
    "tune",
    "zeros",
    "zeros_like",
]


if not TYPE_CHECKING:  # type checkers know all names

    def __getattr__(name: str) -> NoReturn:
        missing = f"module 'tulle' has no attribute '{name}'"
        if name in hints.OF_PACKAGE:
            raise AttributeError(f"{missing}; write {hints.OF_PACKAGE[name]}.")
        raise AttributeError(f"{missing}{nearest(name, __all__)}")


def __dir__() -> list[str]:
    """The public names, without the subpackages."""
    return sorted(__all__)
