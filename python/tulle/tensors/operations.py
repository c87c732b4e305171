"""The operations that methods of `SparseTensor` call and that need the compiler.

A method such as `A + B` runs a program, and a program returns sparse tensors: the class and the
code that computes need each other. The class is the lower layer. Its methods call
`installed.binary(...)`, and `tulle.operators.installation` sets `installed` when the package is
imported. `torch_dispatch.handlers` serves the functions of torch in the same way. Lower subpackages
call higher ones through these two tables only.

A new operation is a field here and a line there. A new method that runs an existing operation, as
most do, needs neither.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tulle.tensors.formats import Format


@dataclass(frozen=True)
class Operations:
    """One function for each operation. Tensors are sparse ones unless the comment says more;
    results are sparse or dense, as the formats of the operands decide."""

    # left, right: sparse or dense, at least one is sparse.
    matmul: Callable[[object, object], Any]
    # left, right, out: writes a dense product to `out`.
    matmul_into: Callable[[object, object, Tensor], Any]
    # "+", "-", "*" or "/", left, right: tensors or numbers, at least one is sparse.
    binary: Callable[[str, object, object], Any]
    # The name of the reduction, the tensor, dim, keepdim, whether over stored entries only; for
    # sum, mean and prod optionally the type of the result.
    reduce: Callable[..., Any]
    # "softmax" or "log_softmax", the tensor, dim, the type of the result or None.
    softmax: Callable[[str, Any, int, torch.dtype | None], Any]
    # The tensor and its new format; "dense" gives an ordinary tensor.
    convert_format: Callable[[Any, str | Format], Any]
    # The text of a format, its rank, the order of dimensions: the text of the permuted format.
    permuted_format: Callable[[str, int, tuple[int, ...]], str]
    # The text of a format, its rank, a number of dimensions: the text of the format with that many
    # dense innermost dimensions.
    format_of_several_values: Callable[[str, int, int], str]
    # The name of a change of structure, the tensor or tensors, its parameters.
    restructure: Callable[..., Any]
    # The coordinates of the entries and their values, in graphs of torch.compile.
    entries: Callable[[Any], tuple[Tensor, Tensor]]
    # The number of entries, and whether slots may hold none, in graphs of torch.compile.
    count_entries: Callable[[Any], int]
    has_padding: Callable[[Any], bool]
    to_torch: Callable[[Any], Tensor]
    to_scipy: Callable[[Any], Any]


installed: Operations


def install(operations: Operations) -> None:
    """Sets the operations; the package does so once, when it is imported."""
    global installed
    installed = operations
