"""Numbers as tensors on a GPU. Those that come again are kept: to fill one takes a kernel."""

from __future__ import annotations

import threading
from collections import OrderedDict

import torch
from torch import Tensor

MOST_SEEN = 256  # numbers of which it is remembered that they came
# Numbers that are kept stay for good: kernels of any stream may be waiting to read them, and graphs
# read them whenever they are replayed. Each is in memory once (512 bytes, the least that PyTorch's
# allocator gives), however many graphs read it. Numbers past these are filled in each call, and by
# graphs in each replay.
MOST_KEPT = 4096

_Key = tuple[torch.device, torch.dtype, str]
_lock = threading.Lock()
_seen: OrderedDict[_Key, None] = OrderedDict()
_kept: dict[_Key, Tensor] = {}


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
    with _lock:
        kept = _kept.get(key)
        if kept is None and key in _seen and len(_kept) < MOST_KEPT and not _is_capturing(device):
            made = _made(number, dtype, device)
            if type(made) is Tensor:  # not one that is only pretended
                kept = _kept[key] = made
                del _seen[key]
        if kept is None:
            _seen[key] = None
            _seen.move_to_end(key)
            if len(_seen) > MOST_SEEN:
                _seen.popitem(last=False)
    return torch.full((), number, dtype=dtype, device=device) if kept is None else kept
