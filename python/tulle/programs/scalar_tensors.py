"""Numbers as tensors. Filling a tensor takes as long as a small computation, and on a GPU it
launches a kernel, so numbers that recur are cached."""

from __future__ import annotations

import threading
from collections import OrderedDict

import torch
from torch import Tensor

# The last numbers that were requested once; a second request puts a number into the cache.
MOST_SEEN = 256
# Cached tensors are never freed: kernels of any stream may be about to read them, and CUDA graphs
# read them at every replay. Each takes 512 bytes, the smallest block of PyTorch's allocator. Once
# the cache is full, other numbers are filled at each call, and in a graph at each replay.
MOST_CACHED = 4096

_Key = tuple[torch.device, torch.dtype, str]
_lock = threading.Lock()
_seen: OrderedDict[_Key, None] = OrderedDict()
_cached: dict[_Key, Tensor] = {}


def tensor_of(number: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """The number as a tensor of rank 0, which callers must not write to. Only the second request
    for a number waits for the GPU; numbers that differ from call to call never wait."""
    if torch.compiler.is_compiling():
        return torch.full((), number, dtype=dtype, device=device)
    key = (device, dtype, number.hex() if isinstance(number, float) else str(number))
    cached = _cached.get(key)
    return _note(key, number) if cached is None else cached


def _note(key: _Key, number: float) -> Tensor:
    """The tensor of a number that is not cached. The second request caches it."""
    device, dtype, _ = key
    with _lock:
        if key in _seen and len(_cached) < MOST_CACHED and not _is_capturing(device):
            made = _made(number, dtype, device)
            if type(made) is Tensor:  # not a fake tensor of PyTorch's tracing
                _cached[key] = made
                del _seen[key]
                return made
        _seen[key] = None
        _seen.move_to_end(key)
        if len(_seen) > MOST_SEEN:
            _seen.popitem(last=False)
    return torch.full((), number, dtype=dtype, device=device)


def _is_capturing(device: torch.device) -> bool:
    if device.type != "cuda":
        return False
    with torch.cuda.device(device):
        return torch.cuda.is_current_stream_capturing()


def _made(number: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """A filled tensor that every stream may read at once, in any mode of autograd."""
    with torch.inference_mode(False):
        made = torch.full((), number, dtype=dtype, device=device)
    if device.type == "cuda":
        torch.cuda.current_stream(device).synchronize()
    return made
