"""Code that is still being made."""

from __future__ import annotations

from tulle.library import bindings


def finish_compiling() -> None:
    """Returns when no more code is being made in the background.

    On a GPU the first call of an expression runs on code that is there soon; better code is made
    meanwhile and takes its place. Call this before measuring; CUDA graphs wait by themselves.
    """
    bindings.finish_compiling()
