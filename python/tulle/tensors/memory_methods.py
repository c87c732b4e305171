"""The memory of a sparse tensor: where it is, and how other processes and GPUs reach it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch import Tensor

from tulle.tensors.stored_tensor import StoredTensor

if TYPE_CHECKING:
    from typing_extensions import Self


class MemoryMethods(StoredTensor):
    """`is_cuda`, `share_memory_`, `pin_memory`, `contiguous` and their kind."""

    __slots__ = ()

    is_quantized = False
    is_mkldnn = False
    is_nested = False

    @property
    def is_cpu(self) -> bool:
        """Whether the tensor is on the CPU."""
        return self._values.is_cpu

    @property
    def is_cuda(self) -> bool:
        """Whether the tensor is on an NVIDIA GPU."""
        return self._values.is_cuda

    @property
    def is_meta(self) -> bool:
        """Whether the tensor has no memory."""
        return self._values.is_meta

    def is_inference(self) -> bool:
        """Whether the values were made in inference mode."""
        return self._values.is_inference()

    def get_device(self) -> int:
        """The number of the GPU; -1 on the CPU."""
        return self._values.get_device()

    # ---- order ---------------------------------------------------------------------------------

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """True: the arrays of a sparse tensor are contiguous."""
        return True

    def contiguous(self, memory_format: Any = None) -> Self:
        """The tensor itself: its arrays are contiguous."""
        return self

    # ---- other processes -----------------------------------------------------------------------

    def share_memory_(self) -> Self:
        """Moves the values and the structure to memory that other processes can share."""
        self._values.share_memory_()
        pattern = self._pattern
        if not _all(Tensor.is_shared, pattern.arrays):
            # The library may hold the addresses of the structure, so copies are shared.
            self._pattern = pattern.with_each(lambda array: array.clone().share_memory_())
        return self

    def is_shared(self) -> bool:
        """Whether the values and the structure are in shared memory. That of a GPU always is."""
        return _all(Tensor.is_shared, (*self._pattern.arrays, self._values))

    # ---- GPUs ----------------------------------------------------------------------------------

    def pin_memory(self) -> Self:
        """The tensor in page-locked memory, from which copies to a GPU do not block."""
        if self.is_pinned():
            return self
        return type(self)(self._pattern.with_each(Tensor.pin_memory), self._values.pin_memory())

    def is_pinned(self) -> bool:
        """Whether the values and the structure are in page-locked memory."""
        return _all(Tensor.is_pinned, (*self._pattern.arrays, self._values))


def _all(test: Callable[[Tensor], bool], tensors: tuple[Tensor, ...]) -> bool:
    return all(map(test, tensors))
