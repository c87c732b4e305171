"""Loads the compiled libraries; importing this module registers Tulle's operators with PyTorch."""

from __future__ import annotations

import os
from pathlib import Path

import torch


def library_folder() -> Path:
    """Where the libraries are: in lib/ beside this file, or where TULLE_LIBRARY_DIR says."""
    chosen = os.environ.get("TULLE_LIBRARY_DIR")
    return Path(chosen) if chosen else Path(__file__).resolve().parent / "lib"


def _load() -> None:
    path = library_folder() / "libtulle_torch.so"
    if not path.exists():
        raise ImportError(
            f"{path} is missing: Tulle's libraries are not built. "
            "Run 'make build' in a checkout, or install the package with pip."
        )
    torch.ops.load_library(str(path))


_load()
