"""What torch.profiler and anomaly mode call the runs of programs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

import torch
from torch._C._autograd import _profiler_enabled
from torch.profiler import record_function

from tulle.programs.program import Program

# Whether a profiler records this thread.
is_profiled: Callable[[], bool] = _profiler_enabled


def labelled(program: Program) -> AbstractContextManager[object]:
    """Around a run of the program: profilers show it by the text of the program."""
    return record_function(program.label) if is_profiled() else nullcontext()


@lru_cache(maxsize=1024)
def labelled_node(node: type[torch.autograd.Function], label: str) -> type[torch.autograd.Function]:
    """The function of autograd under this name. Its backward pass is the gradient of it."""
    named: Any = type(label, (node,), {"__doc__": node.__doc__, "__module__": node.__module__})
    backward = named._backward_cls
    backward.__name__ = backward.__qualname__ = f"gradient of {label}"
    function: type[torch.autograd.Function] = named
    return function
