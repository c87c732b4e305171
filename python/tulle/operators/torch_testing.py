"""`torch.testing.assert_close` on sparse tensors.

It compares tensors of torch only, and has no place to register other classes. So the method with
which it looks at its inputs converts sparse tensors to torch.sparse tensors first. It does the same
as before for all other inputs.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from torch.testing import _comparison

from tulle.tensors.sparse_tensor import SparseTensor


def register() -> None:
    """Makes `torch.testing.assert_close` accept sparse tensors."""
    pair: Any = _comparison.TensorLikePair
    original = pair._process_inputs
    if getattr(original, "takes_tulle", False):
        return

    @wraps(original)
    def process(self: Any, actual: Any, expected: Any, **options: Any) -> Any:
        return original(self, _as_torch(actual), _as_torch(expected), **options)

    process.takes_tulle = True  # type: ignore[attr-defined]
    pair._process_inputs = process


def _as_torch(value: Any) -> Any:
    return value.to_torch() if isinstance(value, SparseTensor) else value
