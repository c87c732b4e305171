"""Modules of torch.nn that hold sparse tensors."""

from __future__ import annotations

from tulle.nn import guards
from tulle.nn.modules import SparseBuffer, SparseParameter

__all__ = ["SparseBuffer", "SparseParameter"]

guards.register()
