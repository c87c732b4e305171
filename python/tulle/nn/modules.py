"""Modules that hold a sparse tensor: its values are a parameter or a buffer.

Optimisers, DistributedDataParallel, moving averages and `functional_call` write to parameters and
buffers. So the values are one, and the structure is none: nothing writes to it. It follows the
values to other devices, and state dicts contain it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from tulle.nn.guards import StructureHolder
from tulle.nn.structures import from_state, same_structure, state_of
from tulle.support.errors import UserError
from tulle.tensors.formats import Format
from tulle.tensors.sparse_tensor import SparseTensor


class SparseModule(StructureHolder):
    """The base of `SparseParameter` and `SparseBuffer`. Calling the module returns the sparse
    tensor with the present values."""

    weight: Tensor

    def __init__(self, tensor: SparseTensor) -> None:
        if not isinstance(tensor, SparseTensor):
            raise UserError(
                f"{type(self).__name__}: expected a tulle.SparseTensor, but found "
                f"{type(tensor).__name__}; tulle.tensor makes one."
            )
        super().__init__()
        tensor.pattern.check_unchanged()
        self._pattern = tensor.pattern
        self.watch()

    def forward(self, *args: Any) -> SparseTensor:
        """The sparse tensor. It shares the values, so gradients of computations reach them."""
        if args:
            raise UserError(
                f"{type(self).__name__}: calling the module returns its sparse tensor and takes no "
                "arguments, but 1 or more were given; for a product write module() @ x."
            )
        return SparseTensor(self._pattern, self.weight)

    if TYPE_CHECKING:

        def __call__(self) -> SparseTensor: ...

    # ---- the sparse tensor --------------------------------------------------------------------

    @property
    def shape(self) -> torch.Size:
        """The shape of the sparse tensor."""
        return torch.Size(self._pattern.shape)

    @property
    def ndim(self) -> int:
        """The number of its dimensions."""
        return len(self._pattern.shape)

    @property
    def format(self) -> Format:
        """Its storage format."""
        return self._pattern.format

    @property
    def nnz(self) -> int:
        """The number of its entries."""
        return self().nnz

    @property
    def dtype(self) -> torch.dtype:
        """The type of its values."""
        return self.weight.dtype

    @property
    def device(self) -> torch.device:
        """Its device."""
        return self.weight.device

    @property
    def T(self) -> SparseTensor:
        """Its transpose, which shares the values."""
        return self().T

    def values(self) -> Tensor:
        """Its values, `weight`."""
        return self.weight

    def to_dense(self) -> Tensor:
        """The dense tensor of its elements."""
        return self().to_dense()

    def __matmul__(self, other: Any) -> Any:
        return self() @ other

    def __rmatmul__(self, other: Any) -> Any:
        return other @ self()

    def _refuse_operator(self, _: Any) -> Any:
        raise UserError(
            f"{type(self).__name__}: the module is no tensor; calling it gives one: module() * 2."
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse_operator
    __truediv__ = __rtruediv__ = __pow__ = _refuse_operator

    def extra_repr(self) -> str:
        shape = "x".join(map(str, self._pattern.shape))
        return f"{shape}, {self._pattern.format}, {self.weight.numel()} values"

    # ---- devices -------------------------------------------------------------------------------

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        super()._apply(fn, recurse)
        self._follow()
        return self

    def _follow(self) -> None:
        """Moves the structure to the device and the kind of memory of the values."""
        values, pattern = self.weight, self._pattern
        if values.is_meta or not pattern.arrays:
            return
        if pattern.arrays[0].device != values.device:
            self._pattern = pattern.with_each(lambda array: array.to(values.device))
        elif values.is_shared() and not values.is_cuda:
            shared = SparseTensor(pattern, values.detach()).share_memory_()
            self._pattern = shared.pattern

    # ---- state ---------------------------------------------------------------------------------

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        for name, tensor in state_of(self._pattern).items():
            destination[prefix + name] = tensor

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Loads structure and values. The structure of the state is checked, and may have another
        number of entries than that of the module."""
        names = state_of(self._pattern).keys()
        given = {name: state_dict[prefix + name] for name in names if prefix + name in state_dict}
        if len(given) == len(names):
            try:
                self._load_structure(given, state_dict.get(prefix + "weight"))
            except ValueError as error:
                error_msgs.append(f'While loading "{prefix.removesuffix(".")}": {error}')
                return
        elif strict:
            missing_keys += [prefix + name for name in names if name not in given]
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )
        known = {prefix + name for name in names}
        unexpected_keys[:] = [key for key in unexpected_keys if key not in known]
        self._follow()

    def _load_structure(self, given: dict[str, Tensor], values: Tensor | None) -> None:
        if same_structure(given, self._pattern):
            return
        held = self._parameters.get("weight", self._buffers.get("weight"))
        if values is None or held is None:
            raise UserError(
                "the structure differs from that of the module, and the state has no values for "
                "it; load a state that has both."
            )
        self.replace_structure(from_state(given, self._pattern, values))
        if held.shape != values.shape:
            held.data = torch.zeros(values.shape, dtype=held.dtype, device=held.device)

    def __getstate__(self) -> dict[str, Any]:
        # A pickle holds the structure as a sparse tensor, which is checked when it is restored.
        state = self.__dict__.copy()
        state["_pattern"] = SparseTensor(self._pattern, self.weight.detach())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state | {"_pattern": state["_pattern"].pattern})
        self.watch()


class SparseParameter(SparseModule):
    """A sparse tensor whose values are learnt: the parameter `weight`. Padding of blocks and
    diagonals is learnt as well, because it consists of entries.

    The module is made with a copy of the values of a sparse tensor, and calling it returns the
    sparse tensor: `self.mixing = SparseParameter(A)`, then `self.mixing() @ x`.
    """

    def __init__(self, tensor: SparseTensor, requires_grad: bool = True) -> None:
        super().__init__(tensor)
        if requires_grad and not tensor.is_floating_point():
            raise UserError(
                f"SparseParameter: values of {tensor.dtype} have no gradient; convert the tensor "
                "with float(), or use SparseBuffer."
            )
        self.weight = nn.Parameter(tensor.values().detach().clone(), requires_grad)


class SparseBuffer(SparseModule):
    """A sparse tensor that is not learnt: its values are the buffer `weight`. Unlike
    `register_buffer("A", A)`, it works with torch.export and DistributedDataParallel, and its state
    dict consists of dense tensors."""

    def __init__(self, tensor: SparseTensor) -> None:
        super().__init__(tensor)
        self.register_buffer("weight", tensor.values().detach())
