"""Structure arrays in memory that only PyTorch's tensors reach.

PyTorch counts writes to a tensor, and a pattern compares that count. The count misses writes
through NumPy, by other processes and to tensors of inference mode. Tensors that were loaded from a
file or that share memory otherwise have counts of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor
from torch._C import _functorch
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor

_shares_all: ContextVar[bool] = ContextVar("shares_all", default=False)


@contextmanager
def sharing(shares: bool) -> Iterator[None]:
    """If true, `owned` copies nothing: callers promise to write to no structure."""
    token = _shares_all.set(shares)
    try:
        yield
    finally:
        _shares_all.reset(token)


def is_plain(tensor: Tensor) -> bool:
    """Whether the tensor has elements that the host or a device can read: no tracer follows it."""
    return type(tensor) in (Tensor, torch.nn.Parameter) and not (
        _functorch.is_functorch_wrapped_tensor(tensor)
    )


def is_traced(tensor: Tensor) -> bool:
    """Whether torch traces a computation with this tensor, which then has no memory."""
    return isinstance(tensor, FakeTensor | FunctionalTensor)


def without_gradients_of_transforms(arrays: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The arrays as they are outside of torch.func.grad and jvp, which wrap every tensor that is
    made inside of them. Structure has no gradients, so that its wrappers have no effect."""
    found = []
    for array in arrays:
        while _functorch.is_gradtrackingtensor(array):
            array = _functorch.get_unwrapped(array)
        found.append(array)
    return tuple(found)


def has_elements(tensor: object) -> bool:
    """Whether it is a dense tensor whose elements can be read."""
    return isinstance(tensor, Tensor) and is_plain(tensor) and tensor.layout == torch.strided


def owned(arrays: Sequence[Tensor], values: Tensor | None = None) -> tuple[Tensor, ...]:
    """The arrays as tensors of their own. An array is copied if writes to its memory may go
    unnoticed, or if it shares memory with another array or with the values."""
    counted = with_counted_writes(arrays, values)
    return tuple(array.detach() if is_plain(array) else array for array in counted)


def with_counted_writes(
    arrays: Sequence[Tensor], values: Tensor | None = None
) -> tuple[Tensor, ...]:
    """The arrays; copies stand for those of which writes may go unnoticed, or which share memory
    with another array or with the values."""
    taken: list[tuple[int, int]] = [] if values is None else _places([values])
    found = []
    for array in arrays:
        if not is_plain(array):
            found.append(array)
            continue
        place = _places([array])
        is_shared = any(one[0] < other[1] and other[0] < one[1] for one in place for other in taken)
        if is_shared or (not _shares_all.get() and has_unseen_writers(array)):
            array = copied(array)
        else:
            taken += place
        found.append(array)
    return tuple(found)


def copied(array: Tensor) -> Tensor:
    """A copy whose writes PyTorch counts."""
    with torch.inference_mode(False):
        return array.detach().clone(memory_format=torch.contiguous_format)


def handed_out(array: Tensor) -> Tensor:
    """The array for a caller: another tensor, whose writes are counted with those to the array. It
    is a copy if PyTorch does not count them."""
    return copied(array) if array.is_inference() else array.detach()


def has_unseen_writers(array: Tensor) -> bool:
    """Whether writes to the memory may go unnoticed."""
    if array.is_inference():
        return True
    storage = array.untyped_storage()
    # PyTorch resizes only memory that it allocated for this storage alone: neither NumPy's nor that
    # of a file.
    return not storage.resizable() or (array.device.type == "cpu" and storage.is_shared())


def _places(tensors: Sequence[Tensor]) -> list[tuple[int, int]]:
    """The address ranges of the tensors' elements."""
    return [
        (one.data_ptr(), one.data_ptr() + one.numel() * one.element_size())
        for one in tensors
        if is_plain(one) and one.layout == torch.strided and one.numel()
    ]
