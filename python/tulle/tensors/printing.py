"""The `repr` of a sparse tensor: a summary, and its first and last entries."""

from __future__ import annotations

import torch
from torch import Tensor

from tulle.library import dtypes
from tulle.tensors.stored_tensor import StoredTensor

_SHOWN = 4  # entries at either end


def text_of(tensor: StoredTensor) -> str:
    """A few lines, however large the tensor is."""
    summary = tensor.pattern.summary(tensor.nnz, tensor.device) + _graph(tensor)
    shape = "x".join(map(str, tensor.pattern.shape))
    head = f"tulle.SparseTensor({shape} {dtypes.torch_name(tensor.dtype)}, {summary})"
    first, last = _ends(tensor, _SHOWN)
    hidden = ["  ..."] if tensor.nnz > len(first) + len(last) else []
    return "\n".join([head, *_lines(tensor, first), *hidden, *_lines(tensor, last)])


def _graph(tensor: StoredTensor) -> str:
    """What torch's tensors print of autograd."""
    node = tensor.values().grad_fn
    if node is not None:
        return f", grad_fn=<{node.name()}>"
    return ", requires_grad=True" if tensor.requires_grad else ""


def _ends(tensor: StoredTensor, shown: int) -> tuple[Tensor, Tensor]:
    """The slots of the first and of the last entries, `shown` of each. If there are not more, all
    of them are in the first result. Examines only as much of the storage as needed."""
    if tensor.nnz <= 2 * shown:
        slots = _entries_from(tensor, 2 * shown, 1)
        return slots, slots[:0]
    return _entries_from(tensor, shown, 1), _entries_from(tensor, shown, -1).flip(0)


def _entries_from(tensor: StoredTensor, wanted: int, direction: int) -> Tensor:
    """The slots of the first entries from the front (1) or from the back (-1)."""
    stored = tensor.values().numel()
    window = wanted
    while True:
        slots = torch.arange(min(window, stored), device=tensor.device)
        slots = slots if direction == 1 else stored - 1 - slots
        inside = slots[tensor.pattern.coordinates_at(slots)[1]]
        if inside.numel() >= wanted or window >= stored:
            return inside[:wanted]
        window *= 8


def _lines(tensor: StoredTensor, slots: Tensor) -> list[str]:
    coordinates = tensor.pattern.coordinates_at(slots)[0].T.tolist()
    values = tensor.values().detach()[slots].tolist()
    return [
        f"  ({', '.join(map(str, coordinate))}): {_text_of(value)}"
        for coordinate, value in zip(coordinates, values, strict=True)
    ]


def _text_of(value: float | int | bool) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
