"""Programs under autograd: runs that record how to compute gradients and tangents."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch._C import _functorch
from torch.autograd import forward_ad

from tulle.programs.batches import (
    batched_operand,
    batched_program,
    one_of_batch,
    taken_apart,
)
from tulle.programs.bound_program import BoundProgram, bind
from tulle.programs.derivatives import Derivative, gradient_of, tangent_of
from tulle.programs.execution import execute
from tulle.programs.labels import labelled_node
from tulle.programs.outputs import Out
from tulle.programs.program import Operand, Program, Result
from tulle.programs.remembered_calls import RememberedCall
from tulle.programs.reordering import reordering_of
from tulle.programs.stages import Stages, abandon_stages, is_shared, stages_of
from tulle.support.errors import UserError
from tulle.tensors.matching import gathered, matched
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor


def run(
    program: Program, names: tuple[str, ...], operands: Sequence[Operand], out: Out = None
) -> list[Result]:
    """Runs the program as `execute` does, and records it if autograd asks for that. Inside of
    transforms of torch.func, tensors may also be batches (`batches`)."""
    is_transformed = is_in_transform(operands)
    if not is_transformed and not is_recorded(operands):
        return execute(program, names, operands, out)
    if out is not None:
        raise UserError(
            "out: an operand requires a gradient, which writing to out would lose, or a transform "
            "of torch.func follows it. Compute under torch.no_grad(), or omit out=."
        )
    call = Call(program, names, operands)
    call.is_in_jvp = is_transformed and _is_in_jvp()
    tensors = [_values_of(operand) for operand in operands]
    node = labelled_node(_TransformedNode if is_transformed else _Node, program.label)
    computed = node.apply(call, *tensors)
    return call.results_of(computed if isinstance(computed, tuple) else (computed,))


def is_in_transform(operands: Sequence[Operand]) -> bool:
    """Whether a transform of torch.func, such as vmap, follows one of the operands."""
    return bool(_functorch.peek_interpreter_stack()) and any(
        _functorch.is_functorch_wrapped_tensor(_values_of(operand)) for operand in operands
    )


def _is_in_jvp() -> bool:
    """Whether a transform of torch.func computes tangents. Graphs of torch.compile enter forward
    mode without setting `forward_ad._current_level`."""
    transforms = _functorch.get_interpreter_stack() or []
    return any(one.key() == _functorch.TransformType.Jvp for one in transforms)


def is_recorded(operands: Sequence[Operand]) -> bool:
    """Whether autograd follows one of the operands."""
    if torch.is_grad_enabled() and any(_values_of(one).requires_grad for one in operands):
        return True
    return forward_ad._current_level >= 0 and any(
        forward_ad.unpack_dual(_values_of(one)).tangent is not None for one in operands
    )


def _values_of(operand: Operand) -> Tensor:
    return operand._values if isinstance(operand, SparseTensor) else operand


class Selection(NamedTuple):
    """The numbers of some operands and results of a call."""

    operands: tuple[int, ...]
    results: tuple[int, ...]

    def of(self, operands: Sequence[Tensor], results: Sequence[Tensor]) -> list[Tensor]:
        return [*(operands[n] for n in self.operands), *(results[n] for n in self.results)]


class Call:
    """A run of a program: everything but the tensors that autograd follows."""

    def __init__(
        self, program: Program, names: tuple[str, ...], operands: Sequence[Operand]
    ) -> None:
        self.program = program
        self.names = names
        # The patterns of operands and results; None for dense ones.
        self.patterns = tuple(_pattern_of(operand) for operand in operands)
        self.dtypes = tuple(operand.dtype for operand in operands)
        self.result_patterns: tuple[Pattern | None, ...] = ()
        self.bound: BoundProgram | None = None
        self.is_in_jvp = False
        self.for_gradients = Selection((), ())
        self.for_tangents = Selection((), ())
        # Of the values of the operands and of the results.
        self.shapes: tuple[torch.Size, ...] = ()
        self.result_shapes: tuple[torch.Size, ...] = ()
        self.result_dtypes: tuple[torch.dtype, ...] = ()

    @staticmethod
    def remembered(found: RememberedCall, patterns: Sequence[Pattern | None]) -> Call:
        """A call that has run, with one result."""
        call = Call.__new__(Call)
        call.program, call.names, call.bound = found.program, found.names, found.bound
        call.patterns, call.dtypes = tuple(patterns), found.dtypes
        source = found.pattern_source
        call.result_patterns = (None if source is None else patterns[source],)
        call.for_gradients = call.for_tangents = Selection((), ())
        call.is_in_jvp = False
        call.shapes = call.result_shapes = ()
        call.result_dtypes = ()
        return call

    def forward(self, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
        operands = self._with_patterns(self.patterns, tensors)
        results = execute(self.program, self.names, operands)
        self.bound = bind(self.program, self.names, operands)
        self.result_patterns = tuple(map(_pattern_of, results))
        return tuple(map(_values_of, results))

    def forward_batch(
        self, size: int, dims: Sequence[int | None], tensors: Sequence[Tensor]
    ) -> tuple[list[Tensor], list[int | None]]:
        """The values of the results for a batch of operands, and the dimension of the batch in
        each; `dims` are those of the operands."""
        given = list(zip(self.patterns, tensors, dims, strict=True))
        first = [one_of_batch(*one) for one in given]
        bound = self.bound = bind(self.program, self.names, first)
        is_composite = any(one and one.format.is_composite for one in self.patterns)
        if is_composite or any(result.format.is_composite for result in bound.results):
            return self._forward_each(size, given)
        wide = [name for name, dim in zip(self.names, dims, strict=True) if dim is not None]
        program = batched_program(bound, wide)
        operands = [batched_operand(*one, size) for one in given]
        results = [
            taken_apart(result, described, size, self.names, self.patterns)
            for result, described in zip(
                run(program, self.names, operands), bound.results, strict=True
            )
        ]
        self.result_patterns = tuple(pattern for pattern, _, _ in results)
        return [values for _, values, _ in results], [dim for _, _, dim in results]

    def _forward_each(
        self, size: int, given: list[tuple[Pattern | None, Tensor, int | None]]
    ) -> tuple[list[Tensor], list[int | None]]:
        """`forward_batch` by one run for each member. Composite formats cannot hold a batch."""
        runs = [
            run(self.program, self.names, [one_of_batch(*one, at) for one in given])
            for at in range(size)
        ]
        self.result_patterns = tuple(map(_pattern_of, runs[0]))
        columns = [[_values_of(result) for result in column] for column in zip(*runs, strict=True)]
        return [torch.stack(column) for column in columns], [0] * len(columns)

    def results_of(self, values: Sequence[Tensor]) -> list[Result]:
        return self._with_patterns(self.result_patterns, values)

    @staticmethod
    def _with_patterns(
        patterns: Sequence[Pattern | None], tensors: Sequence[Tensor]
    ) -> list[Result]:
        return [
            tensor if pattern is None else SparseTensor(pattern, tensor)
            for pattern, tensor in zip(patterns, tensors, strict=True)
        ]

    @property
    def result_names(self) -> list[str]:
        assert self.bound
        return [result.name for result in self.bound.results]

    # ---- reverse mode --------------------------------------------------------------------------

    def select_for_gradients(self, needs: Sequence[bool]) -> None:
        """Selects the tensors that the backward pass reads."""
        assert self.bound
        wanted = [name for name, need in zip(self.names, needs, strict=True) if need]
        derivative = gradient_of(self.bound, wanted, self.result_names)
        # A gradient that is 0 has the shape or pattern of its operand.
        self.for_gradients = self._read_by(derivative, derivative.zeros)

    def _read_by(self, derivative: Derivative, others: Collection[str] = ()) -> Selection:
        operands, results = derivative.reads("operand"), derivative.reads("result")
        return Selection(
            tuple(n for n, name in enumerate(self.names) if name in operands or name in others),
            tuple(n for n, name in enumerate(self.result_names) if name in results),
        )

    def backward(
        self, saved: Sequence[Tensor], needs: Sequence[bool], gradients: Sequence[Tensor | None]
    ) -> list[Tensor | None]:
        """The gradients of the operands."""
        assert self.bound
        values = _Saved(self, self.for_gradients, saved)
        wanted = [n for n, need in enumerate(needs) if need]
        plain = [n for n in wanted if not self._is_composite(n)]
        found: list[Tensor | None] = [None] * len(self.names)
        given = self._arriving(wanted, values, gradients)
        if not given:
            return found
        device = next(iter(given.values())).device
        if plain:
            for number, result in self._run_gradient(plain, values, given, {}):
                found[number] = _on_pattern(self.patterns[number], result)
        for number in wanted:
            if self._is_composite(number):
                found[number] = self._gradient_of_parts(number, values, given)
        for number in wanted:
            found[number] = self._fitting(number, found[number], values, device)
        return found

    def _arriving(
        self, wanted: list[int], values: _Saved, gradients: Sequence[Tensor | None]
    ) -> dict[str, Operand]:
        """The gradients of the results by name. Results that nothing read have none, unless the
        derivative without them reads a tensor that autograd did not keep: then they have zeros."""
        assert self.bound
        arriving = {
            name: gradient
            for name, gradient in zip(self.result_names, gradients, strict=True)
            if gradient is not None
        }
        if arriving and len(arriving) < len(gradients):
            names = [self.names[n] for n in wanted]
            if not values.have_all_of(gradient_of(self.bound, names, list(arriving))):
                device = next(iter(arriving.values())).device
                for name, shape, dtype in zip(
                    self.result_names, self.result_shapes, self.result_dtypes, strict=True
                ):
                    if name not in arriving and dtype.is_floating_point:
                        arriving[name] = torch.zeros(shape, dtype=dtype, device=device)
        return {
            name: self._gradient_operand(number, arriving[name])
            for number, name in enumerate(self.result_names)
            if name in arriving
        }

    def _fitting(
        self, number: int, gradient: Tensor | None, values: _Saved, device: torch.device
    ) -> Tensor:
        """The gradient in the type of the operand, and zeros in place of None."""
        dtype = self.dtypes[number]
        if gradient is None and values.has_operand(self.names[number]):
            return torch.zeros_like(_values_of(values.operand(self.names[number])))
        if gradient is None:
            # The results with a gradient do not depend on this operand, but others do.
            return torch.zeros(self.shapes[number], dtype=dtype, device=device)
        return gradient if gradient.dtype == dtype else gradient.to(dtype)

    def _is_composite(self, number: int) -> bool:
        pattern = self.patterns[number]
        return pattern is not None and pattern.format.is_composite

    def _gradient_operand(self, number: int, gradient: Tensor) -> Operand:
        pattern = self.result_patterns[number]
        return gradient if pattern is None else SparseTensor(pattern, gradient.contiguous())

    def _run_gradient(
        self,
        wanted: list[int],
        values: _Saved,
        given: dict[str, Operand],
        parts: dict[str, Operand],
    ) -> list[tuple[int, Result]]:
        """The gradients of these operands, by number."""
        assert self.bound
        derivative = gradient_of(self.bound, [self.names[n] for n in wanted], list(given))
        if derivative.is_zero:
            return []
        sources = {
            "operand": values.operand,
            "result": values.result,
            "gradient": given.__getitem__,
            "part": parts.__getitem__,
        }
        operands = [sources[one.role](one.of) for one in derivative.operands]
        results = _compute(derivative, operands)
        return [
            (self.names.index(of), result)
            for of, result in zip(derivative.results, results, strict=True)
        ]

    def _gradient_of_parts(
        self, number: int, values: _Saved, given: dict[str, Operand]
    ) -> Tensor | None:
        """The gradient of the values of a composite operand, part by part."""
        pattern = self.patterns[number]
        assert pattern is not None
        arriving = next(iter(given.values()))
        # The derivative reads which entries a part has, not their values.
        unread = torch.zeros(
            pattern.count_slots(), dtype=self.dtypes[number], device=arriving.device
        )
        pieces: list[Tensor] = []
        filled = 0
        for part, own in pattern.parts_of(unread):
            [*found] = self._run_gradient(
                [number], values, given, {self.names[number]: SparseTensor(part, own)}
            )
            if not found:
                return None
            pieces.append(unread[filled : own.storage_offset()])  # between two parts
            pieces.append(_on_pattern(part, found[0][1]))
            filled = own.storage_offset() + own.numel()
        return torch.cat([*pieces, unread[filled:]])

    # ---- forward mode --------------------------------------------------------------------------

    def select_for_tangents(self) -> None:
        """Selects the tensors that the computation of tangents reads: all of them, because any
        operand may have a tangent."""
        self.for_tangents = Selection(
            tuple(range(len(self.names))), tuple(range(len(self.result_names)))
        )

    def tangents(
        self, saved: Sequence[Tensor], tangents: Sequence[Tensor | None]
    ) -> list[Tensor | None]:
        """The tangents of the results."""
        assert self.bound
        values = _Saved(self, self.for_tangents, saved)
        moved = {
            name: _with_pattern(pattern, tangent)
            for name, pattern, tangent in zip(self.names, self.patterns, tangents, strict=True)
            if tangent is not None and tangent.is_floating_point()
        }
        derivative = tangent_of(self.bound, list(moved))
        if derivative.is_zero:
            return [None] * len(self.result_names)
        device = next(iter(moved.values())).device
        found: list[Tensor | None] = [
            torch.zeros(shape, dtype=dtype, device=device) if dtype.is_floating_point else None
            for shape, dtype in zip(self.result_shapes, self.result_dtypes, strict=True)
        ]
        sources = {
            "operand": values.operand,
            "result": values.result,
            "tangent": moved.__getitem__,
        }
        operands = [sources[one.role](one.of) for one in derivative.operands]
        results = run(derivative.program, derivative.names, operands)
        for of, result in zip(derivative.results, results, strict=True):
            number = self.result_names.index(of)
            found[number] = _on_pattern(self.result_patterns[number], result)
        return found


def _compute(derivative: Derivative, operands: Sequence[Operand]) -> list[Result]:
    """The results of a derivative, in stages and in the storage order of results where that is
    faster."""
    program, names = derivative.program, derivative.names
    if is_in_transform(operands):
        return run(program, names, operands)
    stages = stages_of(program, names, operands)
    if stages is not None:
        known = dict(zip(names, operands, strict=True))
        if _run_stages(stages, known, derivative):
            return [known[name] for name in stages.results]
        abandon_stages(program, names, operands)
    return _run_in_order(program, names, operands, derivative)


def _run_stages(stages: Stages, known: dict[str, Operand], derivative: Derivative) -> bool:
    """Adds the results of the stages to the operands. False if an intermediate has a structure of
    its own."""
    operands = list(known.values())
    for stage in stages.stages:
        given = [known[name] for name in stage.names]
        results = _run_in_order(stage.program, stage.names, given, derivative)
        del given
        for name in stage.released:
            del known[name]
        for name, result in zip(stage.results, results, strict=True):
            if name not in stages.results and not is_shared(result, operands):
                return False
            known[name] = result
    return True


def _run_in_order(
    program: Program,
    names: tuple[str, ...],
    operands: Sequence[Operand],
    derivative: Derivative,
) -> list[Result]:
    reordering = reordering_of(program, names, operands)
    if reordering is None:
        return run(program, names, operands)
    constants = derivative.constants
    given = reordering.operands(operands, [name in constants for name in names])
    return run(reordering.program, reordering.names, given)


class _Saved:
    """The operands and results of a call that autograd kept."""

    def __init__(self, call: Call, selection: Selection, saved: Sequence[Tensor]) -> None:
        operands, results = selection
        self._operands = {
            call.names[number]: _with_pattern(call.patterns[number], tensor)
            for number, tensor in zip(operands, saved[: len(operands)], strict=True)
        }
        self._results = {
            call.result_names[number]: _with_pattern(call.result_patterns[number], tensor)
            for number, tensor in zip(results, saved[len(operands) :], strict=True)
        }

    def has_operand(self, name: str) -> bool:
        return name in self._operands

    def have_all_of(self, derivative: Derivative) -> bool:
        """Whether autograd kept every operand and result that the derivative reads."""
        return (
            derivative.reads("operand") <= self._operands.keys()
            and derivative.reads("result") <= self._results.keys()
        )

    def operand(self, name: str) -> Operand:
        return self._operands[name]

    def result(self, name: str) -> Operand:
        return self._results[name]


class _Node(torch.autograd.Function):
    """A run that autograd records."""

    @staticmethod
    def forward(ctx: Any, call: Call, *tensors: Tensor) -> Any:
        computed = call.forward(tensors)
        _set_up(ctx, call, tensors, computed)
        return computed[0] if len(computed) == 1 else computed

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> Any:
        needs = ctx.needs_input_grad[1:]
        return None, *ctx.call.backward(ctx.saved_tensors, needs, gradients)

    @staticmethod
    def jvp(ctx: Any, _: None, *tangents: Tensor | None) -> Any:
        found = ctx.call.tangents(ctx.saved_tensors, tangents)
        return found[0] if len(found) == 1 else tuple(found)


class _TransformedNode(_Node):
    """A run inside of a transform of torch.func, which calls `setup_context` by itself."""

    generate_vmap_rule = False

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], call: Call, *tensors: Tensor
    ) -> tuple[Any, Any]:
        values, dims = call.forward_batch(info.batch_size, in_dims[1:], tensors)
        return (values[0], dims[0]) if len(values) == 1 else (tuple(values), tuple(dims))

    @staticmethod
    def forward(call: Call, *tensors: Tensor) -> Any:  # type: ignore[override]
        computed = call.forward(tensors)
        return computed[0] if len(computed) == 1 else computed

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        call, *tensors = inputs
        # Each transform around the run keeps other tensors, of other shapes.
        _set_up(ctx, copy(call), tensors, output if isinstance(output, tuple) else (output,))


def _set_up(ctx: Any, call: Call, tensors: Sequence[Tensor], computed: Sequence[Tensor]) -> None:
    """Keeps the tensors and types that the derivatives read."""
    call.select_for_gradients(ctx.needs_input_grad[1:])
    call.shapes = tuple(tensor.shape for tensor in tensors)
    call.result_shapes = tuple(tensor.shape for tensor in computed)
    call.result_dtypes = tuple(tensor.dtype for tensor in computed)
    ctx.call = call
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*call.for_gradients.of(tensors, computed))
    if forward_ad._current_level >= 0 or call.is_in_jvp:
        call.select_for_tangents()
        ctx.save_for_forward(*call.for_tangents.of(tensors, computed))
    ctx.mark_non_differentiable(*(one for one in computed if not one.is_floating_point()))


def _with_pattern(pattern: Pattern | None, tensor: Tensor) -> Operand:
    return tensor if pattern is None else SparseTensor(pattern, tensor)


def _pattern_of(operand: Operand) -> Pattern | None:
    return operand._pattern if isinstance(operand, SparseTensor) else None


def _on_pattern(pattern: Pattern | None, result: Result) -> Tensor:
    """The values of a result in the order of this pattern."""
    if pattern is None:
        return result.to_dense() if isinstance(result, SparseTensor) else result
    if not isinstance(result, SparseTensor):
        return gathered(result, pattern)
    if result._pattern is pattern:
        return result._values
    return matched(result._values, result._pattern, pattern)
