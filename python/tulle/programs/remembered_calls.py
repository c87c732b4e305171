"""Calls with everything prepared for the next call with operands of the same kinds and patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from torch import Tensor

from tulle.library import bindings
from tulle.library.bindings import Call, CallInto
from tulle.programs.arguments import numbers_of
from tulle.programs.bound_program import bind
from tulle.programs.execution import head_of
from tulle.programs.program import Operand, Program


class RememberedCall:
    """The arguments that a call passes to its operator beside the values of the operands."""

    __slots__ = (
        "bound",
        "call",
        "call_into",
        "call_on",
        "dtypes",
        "gradients",
        "head",
        "names",
        "pattern_source",
        "program",
        "record",
    )

    def __init__(
        self, program: Program, names: tuple[str, ...], operands: Sequence[Operand]
    ) -> None:
        self.program = program
        self.names = names
        bound = self.bound = bind(program, names, operands)
        self.dtypes = tuple(operand.dtype for operand in operands)
        # The number of the program, the sizes, and the numbers of the structures.
        self.head = head_of(bound, numbers_of(operands))
        # The operand whose pattern the only result has; None if the result is dense.
        self.pattern_source = bound.pattern_source
        # The operators that return and write the values of the only result; None if they do not
        # suffice, because results have a structure of their own or the operands are too many.
        self.call: Call | None = None
        self.call_into: CallInto | None = None
        count = len(operands)
        if 0 < count <= bindings.MAX_TENSORS:
            if bound.has_one_dense_result:
                self.call_into = bindings.calls_into[count - 1]
            if bound.has_one_dense_result or bound.pattern_source is not None:
                self.call = bindings.calls[count - 1]
        # `call` with the head.
        self.call_on: Callable[..., Tensor] | None = None
        if self.call is not None:
            self.call_on = partial(self.call, self.head)
        # What records the call under autograd (`recorded_calls`), once it was.
        self.record: Callable[..., Tensor] | None = None
        # How the backward pass runs (`recorded_calls`), by the operands that need gradients.
        self.gradients: dict[Any, Any] = {}
