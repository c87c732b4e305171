"""Call sites: the ways to write a computation, each with the calls that it has made.

`A @ B`, `A.sum(1)` and `einsum("ij,jk->ik", A, B)` are three call sites. The first call with
operands of some types and formats takes the cold route: `prepare` converts the operands to tensors
and finds the program, then `execution` checks the operands and runs the program. The call is
remembered with the pattern of its first sparse operand. Later calls with such operands take the
warm route: one pass over the operands, one lookup, one operator of the library.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from operator import is_
from typing import Any, TypeAlias

from torch import Tensor, is_grad_enabled
from torch._C import _is_any_autocast_enabled as is_autocast_enabled
from torch._C._functorch import is_functorch_wrapped_tensor, peek_interpreter_stack
from torch.autograd import forward_ad
from torch.compiler import is_compiling
from torch.nn import Parameter

from tulle.library import bindings
from tulle.programs import autocast, outputs, recording
from tulle.programs.execution import run_into, wrap
from tulle.programs.labels import is_profiled, labelled
from tulle.programs.outputs import Out
from tulle.programs.program import Operand, Program, Result
from tulle.programs.recorded_calls import recorder_of
from tulle.programs.remembered_calls import RememberedCall
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.sparse_tensor import SparseTensor

MOST_REMEMBERED = 256  # calls in one table
NEVER_BROADCAST = sys.maxsize

# What `prepare` returns: a program, and the names and tensors of its operands. It may also return
# NotImplemented.
Prepared: TypeAlias = tuple[Program, tuple[str, ...], Sequence[Operand]]
# The results of a call: one, a tuple of several, or NotImplemented.
Results: TypeAlias = Any


class CallSite:
    """A way to write a computation.

    `prepare` takes the operands as callers pass them. The program that it returns may depend on the
    types, ranks and formats of the operands. It may also depend on which sizes of a dense operand
    are 1 if the rank of that operand is at least `broadcast_rank`. With `is_product`, the operands
    get the type of torch.autocast where that is enabled.
    """

    __slots__ = (
        "broadcast_rank",
        "calls",
        "is_product",
        "prepare",
        "run_in_graph",
        "run_on_one",
        "run_on_two",
    )

    def __init__(
        self,
        prepare: Callable[[Sequence[Any]], Any],
        broadcast_rank: int = NEVER_BROADCAST,
        *,
        has_graph_call: bool = False,
        is_product: bool = False,
    ) -> None:
        """With `has_graph_call`, torch.compile records a run as one call. It is for call sites that
        exist before tracing and that no function made by `recorded` contains."""
        self.prepare = prepare
        self.is_product = is_product
        self.run_in_graph: Callable[..., Any] | None = None
        if has_graph_call:
            self.run_in_graph = recorded(lambda *operands: self._run_cold(operands, None))
        self.broadcast_rank = broadcast_rank
        # The remembered calls without a sparse operand. The others are in `Pattern.calls`.
        self.calls: dict[Any, RememberedCall] = {}
        # `run` for one operand and for two, with less overhead.
        self.run_on_one = _run_on_one(self)
        self.run_on_two = _run_on_two(self, broadcast_rank)

    def run(self, operands: Sequence[Any], out: Out = None) -> Results:
        """Computes the results for these operands."""
        if is_compiling() and self.run_in_graph is not None and out is None:
            return self.run_in_graph(*operands)
        if is_compiling() or forward_ad._current_level >= 0 or peek_interpreter_stack():
            return self._run_cold(operands, out)
        if self.is_product and is_autocast_enabled():
            operands = autocast.cast(operands, out)
        with_gradients = is_grad_enabled()
        is_recorded = False
        key: list[Any] = [self]
        calls: dict[Any, RememberedCall] | None = None
        tensors: list[Tensor] = []  # the values of the operands
        for operand in operands:
            if type(operand) is SparseTensor:
                pattern, values = operand._pattern, operand._values
                version = pattern.version
                for array in pattern.counted:
                    version -= array._version
                if version:
                    return self._run_cold(operands, out)
                if calls is None:
                    calls = pattern.calls
                else:
                    key.append(pattern.serial)
                is_plain = type(values) is Tensor or type(values) is Parameter
            else:
                values = operand
                is_plain = type(values) is Tensor or type(values) is Parameter
                if is_plain:
                    sizes: object = values.ndim
                    if values.ndim >= self.broadcast_rank and 1 in values.shape:
                        sizes = values.shape
                    key.append(sizes)
            if not is_plain:
                return self._run_cold(operands, out)
            if with_gradients and values.requires_grad:
                is_recorded = True
            key.append(values.dtype)
            tensors.append(values)
        if calls is None:
            calls = self.calls
        wanted = tuple(key)
        found = calls.get(wanted)
        if found is None:
            return self._run_and_remember(operands, out, calls, wanted)
        if is_recorded and (
            found.call_on is None
            or out is not None
            or peek_interpreter_stack()
            or _is_wrapped(*tensors)
        ):
            return self._run_cold(operands, out)
        try:
            if is_recorded:
                return _recorded(found, operands, tensors)
            if is_profiled():
                with labelled(found.program):
                    return _repeated(found, operands, tensors, out)
            return _repeated(found, operands, tensors, out)
        except RuntimeError:
            # The cold route names the cause. If the reason is that the result has a structure of
            # its own for these sizes, the cold route succeeds.
            calls.pop(wanted, None)
            return self._run_and_remember(operands, out, calls, wanted)

    def run_on(self, operands: Sequence[Any], out: Out = None) -> Results:
        """`run` by the fastest route for this number of operands."""
        if out is None:
            count = len(operands)
            if count == 2:
                return self.run_on_two(operands[0], operands[1])
            if count == 1:
                return self.run_on_one(operands[0])
        return self.run(operands, out)

    def _run_cold(self, operands: Sequence[Any], out: Out) -> Results:
        if self.is_product and is_autocast_enabled():
            operands = autocast.cast(operands, out)
        prepared = self.prepare(operands)
        if prepared is NotImplemented:
            return prepared
        program, names, ready = prepared
        return _only(recording.run(program, names, ready, out))

    def _run_and_remember(
        self,
        operands: Sequence[Any],
        out: Out,
        calls: dict[Any, RememberedCall],
        key: tuple[Any, ...],
    ) -> Results:
        prepared = self.prepare(operands)
        if prepared is NotImplemented:
            return prepared
        program, names, ready = prepared
        results = recording.run(program, names, ready, out)
        is_as_given = len(ready) == len(operands) and all(map(is_, ready, operands))
        if is_as_given and not (program.out_formats and program.has_composite_results):
            if len(calls) >= MOST_REMEMBERED:
                calls.clear()
            calls[key] = RememberedCall(program, names, ready)
        return _only(results)


def _repeated(
    found: RememberedCall, operands: Sequence[Operand], tensors: list[Tensor], out: Out
) -> Results:
    """The results of a remembered call for these operands with these values. Raises
    RuntimeError."""
    if out is not None:
        if found.call_into is not None and type(out) is Tensor and outputs.is_plain(out):
            outputs.increment_version((out,))
            found.call_into(found.head, out, *tensors)
            return out
        return _only(run_into(found.bound, operands, found.head, tensors, out))
    if found.call is None:
        return _only(wrap(found.bound, operands, bindings.run(found.head, tensors)))
    values = found.call(found.head, *tensors)
    if found.pattern_source is None:
        return values
    source = operands[found.pattern_source]
    assert isinstance(source, SparseTensor)
    return SparseTensor(source._pattern, values)


def _recorded(found: RememberedCall, operands: Sequence[Operand], tensors: list[Tensor]) -> Results:
    """The result of a remembered call that autograd records. Raises RuntimeError."""
    patterns = tuple(
        operand._pattern if type(operand) is SparseTensor else None for operand in operands
    )
    values = (found.record or recorder_of(found))(found, patterns, *tensors)
    source = None if found.pattern_source is None else patterns[found.pattern_source]
    return values if source is None else SparseTensor(source, values)


def _is_wrapped(*tensors: Tensor) -> bool:
    """Whether a transform of torch.func follows a tensor, or followed it and has ended."""
    return any(map(is_functorch_wrapped_tensor, tensors))


def _only(results: list[Result]) -> Results:
    """The result if there is one, else a tuple of all."""
    return results[0] if len(results) == 1 else tuple(results)


# The functions that follow take the same steps as `CallSite.run` for the most frequent operands.
# They have no loops over operands, make no lists and read closures in place of attributes, which
# saves a quarter of the time of a small call.


def _run_on_one(site: CallSite) -> Callable[[Any], Results]:
    """`site.run` for one operand."""

    def run_on_one(operand: Any) -> Results:
        if type(operand) is SparseTensor and not is_compiling():
            pattern, values = operand._pattern, operand._values
            found = pattern.calls.get((site, values.dtype))
            if (
                found is not None
                and type(values) is Tensor
                and forward_ad._current_level < 0
                and not is_profiled()
            ):
                counted, version = pattern.counted, pattern.version
                if len(counted) == 2:
                    version -= counted[0]._version + counted[1]._version
                else:
                    for array in counted:
                        version -= array._version
                call_on = found.call_on
                if call_on is not None and not version:
                    try:
                        if values.requires_grad and is_grad_enabled():
                            if peek_interpreter_stack() or is_functorch_wrapped_tensor(values):
                                return site.run((operand,))
                            record = found.record or recorder_of(found)
                            computed = record(found, (pattern,), values)
                        else:
                            computed = call_on(values)
                        if found.pattern_source is None:
                            return computed
                        return SparseTensor(pattern, computed)
                    except RuntimeError:
                        pass  # `run` has the same error
        return site.run((operand,))

    return run_on_one


def _run_on_two(site: CallSite, broadcast_rank: int) -> Callable[[Any, Any], Results]:
    """`site.run` for two operands."""
    is_product = site.is_product

    def run_on_two(left: Any, right: Any) -> Results:
        if (
            type(left) is SparseTensor
            and type(right) is Tensor
            and not is_compiling()
            and not (is_product and is_autocast_enabled())
        ):
            pattern, values = left._pattern, left._values
            sizes: Any = right.ndim
            if sizes >= broadcast_rank and 1 in right.shape:
                sizes = right.shape
            found = pattern.calls.get((site, values.dtype, sizes, right.dtype))
            if (
                found is not None
                and type(values) is Tensor
                and forward_ad._current_level < 0
                and not is_profiled()
            ):
                counted, version = pattern.counted, pattern.version
                if len(counted) == 2:
                    version -= counted[0]._version + counted[1]._version
                else:
                    for array in counted:
                        version -= array._version
                call_on = found.call_on
                if call_on is not None and not version:
                    try:
                        if (values.requires_grad or right.requires_grad) and is_grad_enabled():
                            if peek_interpreter_stack() or _is_wrapped(values, right):
                                return site.run((left, right))
                            record = found.record or recorder_of(found)
                            computed = record(found, (pattern, None), values, right)
                        else:
                            computed = call_on(values, right)
                        if found.pattern_source is None:
                            return computed
                        return SparseTensor(pattern, computed)
                    except RuntimeError:
                        pass  # `run` has the same error
        return site.run((left, right))

    return run_on_two
