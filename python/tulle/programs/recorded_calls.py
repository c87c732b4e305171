"""Remembered calls under autograd: the warm route of training.

The first backward pass of a remembered call derives its programs and remembers the calls that run
them. Later passes only call operators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor, is_grad_enabled

from tulle.library import bindings
from tulle.programs.derivatives import Derivative, gradient_of
from tulle.programs.execution import execute
from tulle.programs.labels import labelled_node
from tulle.programs.program import Operand, Program, Result
from tulle.programs.recording import Call
from tulle.programs.remembered_calls import RememberedCall
from tulle.programs.reordering import Reordered, reordering_of
from tulle.programs.stages import Stages, abandon_stages, is_shared, stages_of
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor

Needs: TypeAlias = tuple[bool, ...]  # which operands need a gradient
Patterns: TypeAlias = tuple[Pattern | None, ...]  # of the operands
# The arguments that a call takes in another order, and whether they may be constants.
Orders: TypeAlias = tuple[tuple[int, Reordered, bool], ...]
FIRST = 2  # the first tensor among the inputs of `RecordedCall`


class RecordedCall(torch.autograd.Function):
    """A remembered call with one result. Apply it to the call, the patterns of the operands (None
    for dense ones) and the values of the operands."""

    @staticmethod
    def forward(ctx: Any, found: RememberedCall, patterns: Patterns, *tensors: Tensor) -> Tensor:
        assert found.call_on
        computed = found.call_on(*tensors)
        needs = ctx.needs_input_grad
        gradients: _Gradients | None = found.gradients.get(needs)
        if gradients is None:
            gradients = found.gradients[needs] = _Gradients(found, patterns, needs[FIRST:])
        ctx.found = found
        ctx.gradients = gradients
        ctx.patterns = patterns
        ctx.save_for_backward(*gradients.kept(tensors, computed))
        return computed

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        gradients: _Gradients = ctx.gradients
        if is_grad_enabled():
            return tuple(gradients.recorded(ctx.found, ctx.patterns, ctx.saved_tensors, gradient))
        return tuple(gradients.run(ctx.found, ctx.patterns, (*ctx.saved_tensors, gradient)))


def recorder_of(found: RememberedCall) -> Callable[..., Tensor]:
    """What records the call under the name of the program. It is `RecordedCall.apply` without the
    search for transforms of torch.func, which callers have done and which takes 2 us."""
    node = labelled_node(RecordedCall, found.program.label)
    recorder: Callable[..., Tensor] = super(torch.autograd.Function, node).apply
    found.record = recorder
    return recorder


class _Single(NamedTuple):
    """An operator that returns one gradient."""

    call: Callable[..., Tensor]
    sources: tuple[int, ...]  # its arguments, among the kept tensors and the arriving gradient
    orders: Orders
    place: int  # among the inputs of `RecordedCall`


class _Several(NamedTuple):
    """A program that computes several gradients from common intermediates, or a stage of it."""

    head: Tensor
    sources: tuple[int, ...]  # among the kept tensors, the gradient and what stages pass on
    orders: Orders
    places: tuple[tuple[int, int], ...]  # of each gradient: in what `run` returns, among the inputs
    passed_on: tuple[int, ...] = ()  # in what `run` returns
    released: tuple[int, ...] = ()  # sources that no later stage reads


class _Gradients:
    """The backward pass of a remembered call, for operands that need gradients. It holds neither
    the call nor patterns, because patterns hold their calls."""

    __slots__ = ("count", "is_slow", "keeps_result", "needs", "several", "single", "which")

    def __init__(self, found: RememberedCall, patterns: Patterns, needs: Needs) -> None:
        self.needs = needs
        self.count = FIRST + len(needs)  # inputs of `RecordedCall`
        self.which, results = self._call(found, patterns).for_gradients
        self.keeps_result = bool(results)
        self.single: list[_Single] = []
        self.several: list[_Several] = []
        # Whether each pass takes the general route; None until the first pass.
        self.is_slow: bool | None = None

    def _call(self, found: RememberedCall, patterns: Patterns) -> Call:
        call = Call.remembered(found, patterns)
        call.select_for_gradients(self.needs)
        return call

    def kept(self, tensors: Sequence[Tensor], computed: Tensor) -> list[Tensor]:
        """The tensors that the backward pass reads."""
        kept = [tensors[n] for n in self.which]
        if self.keeps_result:
            kept.append(computed)
        return kept

    def recorded(
        self,
        found: RememberedCall,
        patterns: Patterns,
        saved: Sequence[Tensor],
        gradient: Tensor,
    ) -> list[Tensor | None]:
        """The gradients by the general route, which autograd can follow in turn."""
        gradients = self._call(found, patterns).backward(saved, self.needs, (gradient,))
        return [*[None] * FIRST, *gradients]

    def run(
        self, found: RememberedCall, patterns: Patterns, tensors: tuple[Tensor, ...]
    ) -> list[Tensor | None]:
        """The gradients; `tensors` are the kept ones and the arriving gradient."""
        if self.is_slow is None:
            preparation = _Preparation(self, self._call(found, patterns), tensors)
            self.is_slow = not preparation.succeeds()
        if self.is_slow:
            return self.recorded(found, patterns, tensors[:-1], tensors[-1])
        if found.pattern_source is not None and not tensors[-1].is_contiguous():
            tensors = (*tensors[:-1], tensors[-1].contiguous())
        gradients: list[Tensor | None] = [None] * self.count
        for call, sources, orders, place in self.single:
            gradients[place] = call(*_arguments(tensors, sources, orders))
        if not self.several:
            return gradients
        known: list[Any] = list(tensors)
        for head, sources, orders, places, passed_on, released in self.several:
            returned = bindings.run(head, _arguments(known, sources, orders))
            for at, place in places:
                gradients[place] = returned[at]
            known += [returned[at] for at in passed_on]
            for number in released:
                known[number] = None
        return gradients


def _arguments(tensors: Sequence[Tensor], sources: tuple[int, ...], orders: Orders) -> list[Tensor]:
    found = [tensors[n] for n in sources]
    for at, order, may_keep in orders:
        found[at] = order.values_of(found[at], may_keep=may_keep)
    return found


class _Step(NamedTuple):
    """A program that has run."""

    found: RememberedCall
    results: list[Result]
    sources: tuple[int, ...]
    orders: Orders

    def places(self) -> list[int]:
        """The values of each result in what `run` returns."""
        places, at = [], 0
        for described in self.found.bound.results:
            at += 1 + described.array_count
            places.append(at)
            at += 1
        return places


class _Preparation:
    """The first backward pass: derives the programs and remembers the calls that run them."""

    def __init__(self, gradients: _Gradients, call: Call, tensors: tuple[Tensor, ...]) -> None:
        self.gradients = gradients
        self.call = call
        self.tensors = tensors

    def succeeds(self) -> bool:
        """Whether the remembered calls compute all gradients."""
        needs = self.gradients.needs
        names = [name for name, need in zip(self.call.names, needs, strict=True) if need]
        together = self._derivative(names)
        # Gradients without common intermediates have a program each.
        statements = together.program.text.count("\n") + 1
        groups = [[name] for name in names] if statements == len(together.results) else [names]
        return all(self._add(self._derivative(group)) for group in groups)

    def _derivative(self, wanted: list[str]) -> Derivative:
        assert self.call.bound
        return gradient_of(self.call.bound, wanted, self.call.result_names)

    def _add(self, derivative: Derivative) -> bool:
        """Runs the derivative and remembers its call. Returns whether its results are gradients as
        they are."""
        if derivative.zeros or any(one.role == "part" for one in derivative.operands):
            return False
        sources = tuple(self._source(one.role, one.of) for one in derivative.operands)
        operands = [
            _with_pattern(self._pattern(one.role, one.of), self.tensors[n])
            for one, n in zip(derivative.operands, sources, strict=True)
        ]
        stages = stages_of(derivative.program, derivative.names, operands)
        if stages is not None:
            done = self._add_stages(stages, derivative, sources, operands)
            if done is not None:
                return done
            abandon_stages(derivative.program, derivative.names, operands)
        step = self._step(derivative.program, derivative.names, sources, operands, derivative)
        numbers = [self.call.names.index(name) for name in derivative.results]
        if not all(map(self._is_gradient, numbers, step.results)):
            return False
        found = step.found
        if len(numbers) == 1 and found.call_on is not None:
            self.gradients.single.append(
                _Single(found.call_on, step.sources, step.orders, FIRST + numbers[0])
            )
            return True
        places = zip(step.places(), (FIRST + number for number in numbers), strict=True)
        self.gradients.several.append(
            _Several(found.head, step.sources, step.orders, tuple(places))
        )
        return True

    def _add_stages(
        self,
        stages: Stages,
        derivative: Derivative,
        sources: tuple[int, ...],
        operands: Sequence[Operand],
    ) -> bool | None:
        """`_add` for a derivative in stages; None if an intermediate has a structure of its own."""
        gradients = dict(zip(stages.results, derivative.results, strict=True))
        places = dict(zip(derivative.names, sources, strict=True))
        known = dict(zip(derivative.names, operands, strict=True))
        count = len(self.tensors)
        several = []
        for stage in stages.stages:
            step = self._step(
                stage.program,
                stage.names,
                tuple(places[name] for name in stage.names),
                [known[name] for name in stage.names],
                derivative,
            )
            released = tuple(places[name] for name in stage.released)
            for name in stage.released:
                del known[name]
            found, passed_on = [], []
            for name, result, at in zip(stage.results, step.results, step.places(), strict=True):
                if name in gradients:
                    number = self.call.names.index(gradients[name])
                    if not self._is_gradient(number, result):
                        return False
                    found.append((at, FIRST + number))
                    continue
                if not is_shared(result, operands):
                    return None
                if not self._has_known_sizes(result):
                    return False
                known[name], places[name] = result, count
                count += 1
                passed_on.append(at)
            several.append(
                _Several(
                    step.found.head,
                    step.sources,
                    step.orders,
                    tuple(found),
                    tuple(passed_on),
                    released,
                )
            )
        self.gradients.several += several
        return True

    def _has_known_sizes(self, result: Result) -> bool:
        """Whether a remembered call may pass it on: the sizes of other patterns may depend on dense
        operands, whose sizes vary."""
        return not isinstance(result, SparseTensor) or result._pattern in self.call.patterns

    def _step(
        self,
        program: Program,
        names: tuple[str, ...],
        sources: tuple[int, ...],
        operands: Sequence[Operand],
        derivative: Derivative,
    ) -> _Step:
        """Runs a program and remembers its call."""
        orders: Orders = ()
        reordering = reordering_of(program, names, operands)
        if reordering is not None:
            constants = derivative.constants
            kept = [name in constants for name in names]
            program, names = reordering.program, reordering.names
            operands = reordering.operands(operands, kept)
            orders = tuple(
                (at, order, kept[number])
                for at, (number, order) in enumerate(reordering.sources)
                if order
            )
            sources = tuple(sources[number] for number, _ in reordering.sources)
        results = execute(program, names, operands)
        return _Step(RememberedCall(program, names, operands), results, sources, orders)

    def _source(self, role: str, of: str) -> int:
        """The place of an operand of the derivative among the kept tensors and the gradient."""
        which = self.gradients.which
        if role == "operand":
            return which.index(self.call.names.index(of))
        return len(which) + (role == "gradient" and self.gradients.keeps_result)

    def _pattern(self, role: str, of: str) -> Pattern | None:
        if role == "operand":
            return self.call.patterns[self.call.names.index(of)]
        return self.call.result_patterns[0]

    def _is_gradient(self, number: int, result: Result) -> bool:
        pattern = result._pattern if isinstance(result, SparseTensor) else None
        return pattern is self.call.patterns[number] and result.dtype == self.call.dtypes[number]


def _with_pattern(pattern: Pattern | None, tensor: Tensor) -> Operand:
    if pattern is None:
        return tensor
    return SparseTensor(pattern, tensor.contiguous())
