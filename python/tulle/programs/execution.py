"""The cold route of a call: checks operands, runs the program and wraps the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from torch import Tensor

from tulle.library import bindings
from tulle.programs import graph_calls, outputs
from tulle.programs.arguments import Arguments, flatten
from tulle.programs.bound_program import BoundProgram, ResultType, bind
from tulle.programs.labels import labelled
from tulle.programs.operand_checks import checked
from tulle.programs.outputs import Out
from tulle.programs.program import Operand, Program, Result
from tulle.support.errors import translated
from tulle.tensors.formats import Format
from tulle.tensors.pattern import Pattern, living_pattern, sizes_tensor
from tulle.tensors.sparse_tensor import SparseTensor


def execute(
    program: Program, names: tuple[str, ...], operands: Sequence[Operand], out: Out = None
) -> list[Result]:
    """Runs the program on operands with these names and returns its results in order. Results for
    which `out` has a tensor are written to it."""
    if program.out_formats and program.has_composite_results:
        return _execute_for_composites(program, names, operands, out)
    operands = checked(program, names, operands)
    found = bind(program, names, operands)
    if graph_calls.is_traced(operands):
        return graph_calls.compute(found, names, operands)
    arguments = flatten(operands)
    head = head_of(found, arguments.numbers)
    try:
        with labelled(program):
            if out is None:
                return wrap(found, operands, bindings.run(head, arguments.tensors))
            return run_into(found, operands, head, arguments.tensors, out)
    except RuntimeError as error:
        raise translated(error) from None


def explanation_of(program: Program, names: tuple[str, ...], operands: Sequence[Operand]) -> str:
    """Every stage of the program for these operands, as text."""
    operands = checked(program, names, operands)
    numbers, tensors = flatten(operands)
    return bindings.explain(bind(program, names, operands).key, sizes_tensor(numbers), tensors)


def repeatable_call(
    found: BoundProgram, arguments: Arguments
) -> Callable[[], Tensor | list[Tensor]]:
    """A function that runs the program on these arguments and returns what the operator does."""
    head, tensors = head_of(found, arguments.numbers), arguments.tensors
    if found.has_one_dense_result and 0 < len(tensors) <= bindings.MAX_TENSORS:
        call = bindings.calls[len(tensors) - 1]
        return lambda: call(head, *tensors)
    return lambda: bindings.run(head, tensors)


def head_of(found: BoundProgram, numbers: tuple[int, ...]) -> Tensor:
    """The numbers that operators take: the program's, then those of the operands."""
    return sizes_tensor((found.number, *numbers))


def run_into(
    found: BoundProgram, operands: Sequence[Operand], head: Tensor, tensors: list[Tensor], out: Out
) -> list[Result]:
    """Runs the program and writes the results for which `out` has a tensor to it. Raises
    RuntimeError."""
    given = outputs.numbered([result.name for result in found.results], out)
    parts = bindings.run_into(head, tensors, list(given), list(given.values()))
    results = wrap(found, operands, parts)
    return [given.get(number, result) for number, result in enumerate(results)]


def _execute_for_composites(
    program: Program, names: tuple[str, ...], operands: Sequence[Operand], out: Out
) -> list[Result]:
    """Computes results in composite formats as COO, then distributes the entries to the parts."""
    wanted = {name: format for name, format in program.out_formats if Format(format).is_composite}
    plain = replace(
        program,
        out_formats=tuple(
            (name, "coo" if name in wanted else format) for name, format in program.out_formats
        ),
    )
    results = execute(plain, names, operands, out)
    for at, result in enumerate(bind(plain, names, operands).results):
        format = wanted.get("*") or wanted.get(result.name)
        if format is not None:
            results[at] = results[at].to(format=format)
    return results


def wrap(found: BoundProgram, operands: Sequence[Operand], returned: list[Tensor]) -> list[Result]:
    """The results, from the tensors that the operator `run` returns: for each result its sizes,
    structure arrays and values."""
    results: list[Result] = []
    at = 0
    for result in found.results:
        sizes, values = returned[at], returned[at + 1 + result.array_count]
        arrays = tuple(returned[at + 1 : at + 1 + result.array_count])
        at += result.array_count + 2
        if result.format.is_dense:
            results.append(values)
            continue
        shape = tuple(sizes.tolist())
        source = _pattern_source(result.format, shape, arrays, operands)
        found.pattern_source = source if len(found.results) == 1 else None
        if source is None:
            pattern = _pattern_of(result, shape, arrays, operands)
        else:
            pattern = _sparse(operands[source])._pattern
        results.append(SparseTensor(pattern, values))
    return results


def _pattern_source(
    format: Format,
    shape: tuple[int, ...],
    arrays: tuple[Tensor, ...],
    operands: Sequence[Operand],
) -> int | None:
    """The number of the operand whose pattern has this format and shape and these very arrays."""
    for number, operand in enumerate(operands):
        if isinstance(operand, SparseTensor) and operand._pattern.holds(format, shape, arrays):
            return number
    return None


def _pattern_of(
    result: ResultType,
    shape: tuple[int, ...],
    arrays: tuple[Tensor, ...],
    operands: Sequence[Operand],
) -> Pattern:
    """The pattern of a result. Arrays of an operand have one pattern for each format and shape."""
    for operand in operands:
        if isinstance(operand, SparseTensor) and operand._pattern.has_arrays(arrays):
            return operand._pattern.sharing(result.format, shape)
    living = living_pattern(result.format, shape, arrays)
    return living or Pattern._of_valid(result.format, shape, arrays, result.index_dtype)


def _sparse(operand: Operand) -> SparseTensor:
    assert isinstance(operand, SparseTensor)
    return operand
