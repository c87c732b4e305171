"""Compilation in the background."""

from __future__ import annotations

from tulle.library import bindings


def finish_compiling() -> None:
    """Waits until no code is being compiled in the background.

    On a GPU the first call of an expression runs code that is quickly generated and barely
    optimised; a background thread compiles optimised code, which later calls use. Call this
    function before measuring. Capturing a CUDA graph waits on its own.
    """
    bindings.finish_compiling()
