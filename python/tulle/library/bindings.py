"""The operators of the compiled library, `torch.ops.tulle.*`, with their types.

The declarations mirror the schemas that `src/torch/` registers; a test compares the two. Most
operators raise Tulle's errors (`support.errors`). Those that run programs raise what PyTorch makes
of an error, a RuntimeError, because a translation would slow each call; their callers translate.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ParamSpec, Protocol, TypeVar

import torch
from torch import Tensor
from torch.library import Library, fallthrough_kernel
from torch.utils._python_dispatch import _disable_current_modes

from tulle.library.loading import load
from tulle.support.errors import translated

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

load()
_ops = torch.ops.tulle


class Call(Protocol):
    """Runs a program with one result, of which only the values are new. `head` holds the number of
    the program in this process, the shapes of the sparse operands, and optionally the complements
    of the numbers of their structures. `tensors` are the arrays and values of all operands, or with
    the numbers of held structures only the values."""

    def __call__(self, head: Tensor, /, *tensors: Tensor) -> Tensor: ...


class CallInto(Protocol):
    """As `Call`, but writes a dense result to `out`."""

    def __call__(self, head: Tensor, out: Tensor, /, *tensors: Tensor) -> None: ...


class KeepSchedule(Protocol):
    """Stores a measured schedule; an empty one stands for the planned schedule."""

    def __call__(
        self,
        key: str,
        sizes: Tensor,
        tensors: list[Tensor],
        schedule: str,
        seconds: float,
        default_seconds: float,
        report: str,
        /,
    ) -> None: ...


def _direct(name: str) -> Callable[..., Any]:
    """The operator without PyTorch's search for an overload."""
    return getattr(_ops, name).default._op


def _boxed(name: str) -> Callable[..., Any]:
    """The operator without PyTorch's search for `__torch_function__` among the arguments, which
    takes as long as passing them. All arguments must be plain tensors."""
    operator = torch._C._dispatch_find_schema_or_throw(f"tulle::{name}", "")
    return partial(torch._C._dispatch_call_boxed, operator)


def _translating(operator: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """The operator with Tulle's errors in place of RuntimeError. Graphs that torch traces do not
    record it."""

    def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        try:
            if torch._C._len_torch_dispatch_stack():
                with _disable_current_modes():
                    return operator(*args, **kwargs)
            return operator(*args, **kwargs)
        except RuntimeError as error:
            raise translated(error) from None

    return call


def _skip_autograd(names: list[str]) -> Library:
    """Registers the operators so that calls bypass PyTorch's autograd, which saves time. Callers
    must refuse operands that require a gradient. The registration lasts as long as the result."""
    library = Library("tulle", "IMPL", "Autograd")
    for name in names:
        library.impl(name, fallthrough_kernel)
    return library


def _refuse_batches(names: list[str]) -> Library:
    """Makes the operators raise RuntimeError for tensors that torch.vmap follows, so that callers
    take the route for batches. The registration lasts as long as the result."""

    def refuse(*_: Any) -> None:
        raise RuntimeError("An operator of Tulle got a tensor that torch.vmap follows.")

    library = Library("tulle", "IMPL", "FuncTorchBatched")
    for name in names:
        library.impl(name, refuse)
    return library


def _mark_cudagraph_unsafe(operator: Any) -> None:
    """Keeps torch.compile(mode="reduce-overhead") from capturing the operator. It validates
    structure that the library does not hold, which reads memory of the GPU from the host."""
    tag = getattr(torch.Tag, "cudagraph_unsafe", None)
    if tag is not None and tag not in operator.tags:
        operator.tags.append(tag)


# ---- running programs: these raise RuntimeError -------------------------------------------------

# The operators for 1 to MAX_TENSORS tensors; item n - 1 takes n tensors.
MAX_TENSORS = 8
_COUNTS = range(1, MAX_TENSORS + 1)
calls: list[Call] = [_boxed(f"call{count}") for count in _COUNTS]
calls_into: list[CallInto] = [_boxed(f"into{count}") for count in _COUNTS]

# Any number of results and tensors. For each result: its sizes, structure arrays and values.
run: Callable[[Tensor, list[Tensor]], list[Tensor]] = _direct("run")
# As `run`; the results with the listed numbers are written to the tensors that follow the list.
run_into: Callable[[Tensor, list[Tensor], list[int], list[Tensor]], list[Tensor]] = _direct(
    "run_into"
)

# The same by the key of the program, which is valid in any process: what graphs of torch.compile
# contain. Returns for each result its structure arrays, unless `describe` says that it has those of
# an operand, and its values.
compute: Callable[[str, list[int], list[Tensor]], list[Tensor]] = _ops.compute.default
_mark_cudagraph_unsafe(compute)
# The same for graphs that contain their gradients; autograd does not follow it.
compute_traced: Callable[[str, list[int], list[Tensor]], list[Tensor]] = _ops.compute_traced.default
_mark_cudagraph_unsafe(compute_traced)

# ---- programs, formats, structure and plans: these raise Tulle's errors -------------------------

program_number: Callable[[str], int] = _translating(_ops.number.default)
describe: Callable[[str], str] = _translating(_ops.describe.default)
explain: Callable[[str, Tensor, list[Tensor]], str] = _translating(_ops.explain.default)
# The text of the program that computes gradients (key, wanted operands, results with gradients) or
# tangents (key, operands with tangents), after a line for each of its operands and results.
gradient: Callable[[str, str, str], str] = _translating(_ops.gradient.default)
tangent: Callable[[str, str], str] = _translating(_ops.tangent.default)
# The index notation of the program (key) whose operands in a list have a batch dimension.
batched: Callable[[str, str], str] = _translating(_ops.batched.default)
describe_format: Callable[[str, int], str] = _translating(_ops.describe_format.default)
describe_notation: Callable[[str, str], str] = _translating(_ops.describe_notation.default)
validate: Callable[[str, str, Tensor, list[Tensor]], None] = _translating(_ops.validate.default)
is_in_order: Callable[[str, str, Tensor, list[Tensor]], bool] = _translating(
    _ops.is_in_order.default
)
select_parts: Callable[[str, str, Tensor, list[Tensor]], list[Tensor]] = _translating(
    _ops.select_parts.default
)
candidates: Callable[[str, Tensor, list[Tensor]], str] = _translating(_ops.candidates.default)
keep_schedule: KeepSchedule = _translating(_ops.keep_schedule.default)

tuned_plans: Callable[[], str] = _translating(_ops.tuned_plans.default)
forget_tuned_plans: Callable[[], int] = _translating(_ops.forget_tuned_plans.default)
cache_directory: Callable[[], str] = _translating(_ops.cache_directory.default)

# ---- state of the process -----------------------------------------------------------------------

set_dense_limit: Callable[[int], None] = _ops.set_dense_limit.default
new_structure: Callable[[], int] = _ops.new_structure.default
forget_structure: Callable[[int], None] = _ops.forget_structure.default
# Holds the arrays of a structure, so that calls pass its number in place of the arrays. Takes the
# token, the number, a spec, the sizes, the arrays and the number of values. Without `trust` as the
# token, the library checks the structure first.
hold_structure: Callable[[int, int, str, Tensor, list[Tensor], int], None] = _translating(
    _ops.hold_structure.default
)
# The token by which this package vouches for structures; the library gives it to one caller.
take_trust: Callable[[], int] = _ops.take_trust.default
trust = take_trust()
# Releases these arrays and forgets the structure.
release_structure: Callable[[int], None] = _ops.release_structure.default
kept_data: Callable[[int], str] = _ops.kept_data.default
finish_compiling: Callable[[], None] = _ops.finish_compiling.default
version: str = _ops.version()

_autograd = _skip_autograd(
    [f"{kind}{count}" for kind in ("call", "into") for count in _COUNTS]
    + ["run", "run_into", "explain", "validate", "is_in_order", "select_parts"]
    + ["candidates", "keep_schedule", "compute_traced"]
)
_batched = _refuse_batches([f"{kind}{count}" for kind in ("call", "into") for count in _COUNTS])
