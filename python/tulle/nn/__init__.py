"""Modules of torch.nn that hold sparse tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from tulle.nn import guards
from tulle.nn.modules import SparseBuffer, SparseParameter
from tulle.support.text import nearest

__all__ = ["SparseBuffer", "SparseParameter"]

guards.register()

if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        missing = f"module 'tulle.nn' has no attribute '{name}'"
        raise AttributeError(f"{missing}{nearest(name, __all__)}")
