"""Numbers as tensors on a GPU. Those that come again are kept: to fill one takes a kernel."""

from __future__ import annotations

import threading
from collections import OrderedDict

import torch
from torch import Tensor

MOST = 256  # numbers that are remembered
# Numbers that stay for good: a graph reads them whenever it is replayed, and nobody says when it
# never will be again. Each is in memory once (512 bytes, the least that PyTorch's allocator gives),
# however many graphs read it. Past these, graphs fill numbers of their own in each replay.
MOST_CAPTURED = 4096

_Key = tuple[torch.device, torch.dtype, str]
_lock = threading.Lock()
_seen: OrderedDict[_Key, Tensor | None] = OrderedDict()  # None for what came once
_captured: dict[_Key, Tensor] = {}


def _is_capturing(device: torch.device) -> bool:
    if device.type != "cuda":
        return False
    with torch.cuda.device(device):
        return torch.cuda.is_current_stream_capturing()


def _made(number: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """A tensor that every stream may read from now on, under whatever mode it is asked for."""
    with torch.inference_mode(False):
        made = torch.full((), number, dtype=dtype, device=device)
    if device.type == "cuda":
        torch.cuda.current_stream(device).synchronize()
    return made


def tensor_of(number: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """The number as a tensor of rank 0, which nobody may write to. Numbers that differ from call to
    call are made anew and waited for by nobody."""
    if torch.compiler.is_compiling():
        return torch.full((), number, dtype=dtype, device=device)
    key = (device, dtype, number.hex() if isinstance(number, float) else str(number))
    capturing = _is_capturing(device)
    with _lock:
        kept = _captured.get(key)
        if kept is None:
            is_known = key in _seen
            kept = _seen.pop(key, None)
            if kept is None and is_known and not capturing:
                made = _made(number, dtype, device)
                kept = made if type(made) is Tensor else None  # not one that is only pretended
            if kept is not None and capturing and len(_captured) < MOST_CAPTURED:
                _captured[key] = kept
            else:
                _seen[key] = kept
                while len(_seen) > MOST:
                    _seen.popitem(last=False)
                if capturing:
                    kept = None  # it may go before the graph does
    return torch.full((), number, dtype=dtype, device=device) if kept is None else kept
