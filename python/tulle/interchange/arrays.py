"""Dense tensors from arrays and nested lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from tulle.support.errors import UserError


def as_dense(name: str, data: Any) -> Tensor:
    """A dense tensor of an array or of nested lists of numbers; messages call it `name`."""
    if isinstance(data, np.ndarray):
        data = _as_torch_takes_it(data)
    try:
        return torch.as_tensor(data)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UserError(
            f"{name}: expected a tensor, an array or nested lists of numbers, but found "
            f"{type(data).__name__}, which torch cannot convert: {error}"
        ) from None


def _as_torch_takes_it(array: Any) -> Any:
    """The array, or a copy if torch cannot share its memory: if it is read-only, runs backwards,
    has the other byte order, or is a field of records that are no multiple of it in size."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    has_steps = all(stride >= 0 and stride % array.itemsize == 0 for stride in array.strides)
    return array if has_steps and array.flags.writeable else array.copy()
