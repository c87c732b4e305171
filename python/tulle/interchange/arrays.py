"""Dense tensors from arrays and nested lists."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tulle.support.errors import UserError


def as_dense(name: str, data: Any) -> Tensor:
    """A dense tensor of an array or of nested lists of numbers; messages call it `name`."""
    try:
        return torch.as_tensor(data)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UserError(
            f"{name}: expected a tensor, an array or nested lists of numbers, but found "
            f"{type(data).__name__}, which torch cannot convert: {error}"
        ) from None
