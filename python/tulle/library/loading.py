"""Loads the compiled libraries, which registers Tulle's operators with PyTorch."""

from __future__ import annotations

import os
from pathlib import Path

import torch


def library_folder() -> Path:
    """The folder of the libraries: TULLE_LIBRARY_DIR if it is set, else lib/ in the package."""
    chosen = os.environ.get("TULLE_LIBRARY_DIR")
    return Path(chosen) if chosen else Path(__file__).resolve().parents[1] / "lib"


def load() -> None:
    """Loads libtulle_torch.so, which brings libtulle.so with it."""
    path = library_folder() / "libtulle_torch.so"
    if not path.exists():
        raise ImportError(
            f"{path} is missing: Tulle's libraries are not built. "
            "Run 'make build' in a checkout, or install the package with pip."
        )
    torch.ops.load_library(str(path))
