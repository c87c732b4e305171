"""What `repr` shows of a sparse tensor: what it is, and its first and last entries."""

from __future__ import annotations

from torch import Tensor

from tulle import entries
from tulle.sparse_tensor import SparseTensor

# How many entries are shown at either end.
_SHOWN = 4


def text_of(tensor: SparseTensor) -> str:
    """Some lines, however large the tensor is."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    index = str(tensor.index_dtype).removeprefix("torch.")
    shape = "x".join(map(str, tensor.shape))
    device = "" if tensor.device.type == "cpu" else f", device='{tensor.device}'"
    head = (
        f"tulle.SparseTensor({shape} {dtype}, {tensor.format}, nnz={tensor.nnz}, "
        f"index_dtype={index}{device})"
    )
    first, last = entries.ends(tensor, _SHOWN)
    hidden = ["  ..."] if tensor.nnz > len(first) + len(last) else []
    return "\n".join([head, *_lines(tensor, first), *hidden, *_lines(tensor, last)])


def _lines(tensor: SparseTensor, slots: Tensor) -> list[str]:
    coordinates = entries.coordinates_at(tensor.pattern, slots).T.tolist()
    values = tensor.values().detach()[slots].tolist()
    return [
        f"  ({', '.join(map(str, coordinate))}): {_text_of(value)}"
        for coordinate, value in zip(coordinates, values, strict=True)
    ]


def _text_of(value: float | int | bool) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
