"""Tulle: a sparse tensor compiler for PyTorch."""

from __future__ import annotations

import torch

from tulle import _library as _library

__version__: str = torch.ops.tulle.version()

__all__ = ["__version__"]
