"""Methods of torch's tensors that have no meaning on sparse tensors, with what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import torch

from tulle.library import dtypes
from tulle.support.errors import UserError
from tulle.tensors.stored_tensor import StoredTensor


def _refused(name: str, instead: str) -> Callable[..., NoReturn]:
    def method(self: Any, *args: Any, **options: Any) -> NoReturn:
        raise UserError(
            f"{name}: a sparse tensor consists of several arrays, so it has no {name}(); write "
            f"A.{instead}."
        )

    method.__name__ = name
    method.__doc__ = f"Raises UserError; write A.{instead}."
    return method


def _unsupported(dtype: torch.dtype) -> Callable[..., NoReturn]:
    def method(self: Any, *args: Any, **options: Any) -> NoReturn:
        dtypes.name_of(dtype)
        raise AssertionError(dtype)

    method.__doc__ = f"Raises Unsupported: values are never {dtype}."
    return method


class RefusedMethods(StoredTensor):
    """Methods that raise UserError."""

    __slots__ = ()

    numpy = _refused("numpy", "to_dense().numpy(), or A.to_scipy()")
    tolist = _refused("tolist", "to_dense().tolist()")
    item = _refused("item", "to_dense().item()")
    stride = _refused("stride", "levels() for the structure")
    storage_offset = _refused("storage_offset", "values().storage_offset()")
    data_ptr = _refused("data_ptr", "values().data_ptr(), or A.levels() for the structure")
    storage = _refused("storage", "values().untyped_storage()")
    untyped_storage = _refused("untyped_storage", "values().untyped_storage()")

    byte = _unsupported(torch.uint8)
    char = _unsupported(torch.int8)
    short = _unsupported(torch.int16)
    cfloat = _unsupported(torch.complex64)
    cdouble = _unsupported(torch.complex128)
