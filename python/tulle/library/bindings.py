"""Loads the compiled libraries; importing this module registers Tulle's operators with PyTorch."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.library import Library, fallthrough_kernel


def library_folder() -> Path:
    """The folder of the libraries: TULLE_LIBRARY_DIR, or lib/ in the package."""
    chosen = os.environ.get("TULLE_LIBRARY_DIR")
    return Path(chosen) if chosen else Path(__file__).resolve().parents[1] / "lib"


def _load() -> None:
    path = library_folder() / "libtulle_torch.so"
    if not path.exists():
        raise ImportError(
            f"{path} is missing: Tulle's libraries are not built. "
            "Run 'make build' in a checkout, or install the package with pip."
        )
    torch.ops.load_library(str(path))


def _skip_autograd(names: list[str]) -> Library:
    """Lets the operators pass PyTorch's autograd by, which saves time; who calls one has to see
    that no gradient is asked for."""
    library = Library("tulle", "IMPL", "Autograd")
    for name in names:
        library.impl(name, fallthrough_kernel)
    return library


def _boxed(name: str) -> Callable[..., Any]:
    """An operator without the look for arguments that override PyTorch's functions. That takes as
    long as handing over all arguments, and the short way of a product takes plain tensors only."""
    operator = torch._C._dispatch_find_schema_or_throw(f"tulle::{name}", "")
    return partial(torch._C._dispatch_call_boxed, operator)


_load()

_ops = torch.ops.tulle

# By number of tensors. `_op` is the operator without the packet's search for an overload.
MAX_TENSORS = 8
calls: list[Callable[..., Any]] = [
    getattr(_ops, f"call{count}").default._op for count in range(1, MAX_TENSORS + 1)
]
# The same for a program whose number, good in this process alone, stands before the sizes.
quick_calls: list[Callable[..., Any]] = [
    _boxed(f"quick{count}") for count in range(1, MAX_TENSORS + 1)
]
# As those, with a tensor after the first that takes the result.
into_calls: list[Callable[..., None]] = [
    _boxed(f"into{count}") for count in range(1, MAX_TENSORS + 1)
]
number: Callable[[str], int] = _ops.number.default
run: Callable[..., Any] = _ops.run.default._op
run_into: Callable[..., Any] = _ops.run_into.default._op
explain: Callable[..., str] = _ops.explain.default
describe: Callable[[str], str] = _ops.describe.default
describe_format: Callable[[str, int], str] = _ops.describe_format.default
describe_notation: Callable[[str, str], str] = _ops.describe_notation.default
validate: Callable[..., None] = _ops.validate.default
is_in_order: Callable[..., bool] = _ops.is_in_order.default
select_parts: Callable[..., Any] = _ops.select_parts.default
set_dense_limit: Callable[[int], None] = _ops.set_dense_limit.default
new_structure: Callable[[], int] = _ops.new_structure.default
forget_structure: Callable[[int], None] = _ops.forget_structure.default
kept_data: Callable[[int], str] = _ops.kept_data.default
candidates: Callable[..., str] = _ops.candidates.default
keep_schedule: Callable[..., None] = _ops.keep_schedule.default
tuned_plans: Callable[[], str] = _ops.tuned_plans.default
forget_tuned_plans: Callable[[], int] = _ops.forget_tuned_plans.default
cache_directory: Callable[[], str] = _ops.cache_directory.default
finish_compiling: Callable[[], None] = _ops.finish_compiling.default
version: str = _ops.version()

_autograd = _skip_autograd(
    [f"{kind}{count}" for kind in ("call", "quick", "into") for count in range(1, MAX_TENSORS + 1)]
    + ["run", "run_into", "explain", "validate", "is_in_order", "select_parts"]
    + ["candidates", "keep_schedule"]
)
