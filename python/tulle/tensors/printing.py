"""What `repr` shows of a sparse tensor, what it is and its first and last entries; and of its
pattern."""

from __future__ import annotations

import torch
from torch import Tensor

from tulle.tensors import entries
from tulle.tensors.composites import CompositePattern
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor

# How many entries are shown at either end.
_SHOWN = 4


def text_of(tensor: SparseTensor) -> str:
    """Some lines, however large the tensor is."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    told = _told(tensor.pattern, tensor.nnz, tensor.device)
    head = f"tulle.SparseTensor({_shape(tensor.pattern)} {dtype}, {told})"
    first, last = entries.ends(tensor, _SHOWN)
    hidden = ["  ..."] if tensor.nnz > len(first) + len(last) else []
    return "\n".join([head, *_lines(tensor, first), *hidden, *_lines(tensor, last)])


def text_of_pattern(pattern: Pattern) -> str:
    """What it is, in one line."""
    is_whole = not isinstance(pattern, CompositePattern)
    nnz = entries.count(pattern, entries.stored(pattern) if is_whole else 0)
    device = pattern.arrays[0].device if pattern.arrays else torch.device("cpu")
    return f"Pattern({_shape(pattern)}, {_told(pattern, nnz, device)})"


def _shape(pattern: Pattern) -> str:
    return "x".join(map(str, pattern.shape))


def _told(pattern: Pattern, nnz: int, device: torch.device) -> str:
    index = str(pattern.index_dtype).removeprefix("torch.")
    place = "" if device.type == "cpu" else f", device='{device}'"
    return f"{pattern.format}, nnz={nnz}, index_dtype={index}{place}"


def _lines(tensor: SparseTensor, slots: Tensor) -> list[str]:
    coordinates = entries.coordinates_at(tensor.pattern, slots).T.tolist()
    values = tensor.values().detach()[slots].tolist()
    return [
        f"  ({', '.join(map(str, coordinate))}): {_text_of(value)}"
        for coordinate, value in zip(coordinates, values, strict=True)
    ]


def _text_of(value: float | int | bool) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
