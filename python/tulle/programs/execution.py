"""Runs programs: passes operands to the compiled library and wraps its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from torch import Tensor

from tulle.library import bindings
from tulle.programs import outputs
from tulle.programs.arguments import Arguments, flatten, flatten_plain
from tulle.programs.bound_program import BoundProgram, ResultType, bind
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
    arguments = flatten_plain(operands)
    if arguments is not None:
        found = bind(program, names, operands)
        try:
            return _run(found, operands, arguments, out)
        except NotImplementedError:
            pass  # PyTorch has no kernel for the device or the layout: the checks name the operand
        except RuntimeError as error:
            raise translated(error) from None
    operands = checked(program, names, operands)
    found = bind(program, names, operands)
    try:
        return _run_all(found, operands, flatten(operands), out)
    except RuntimeError as error:
        raise translated(error) from None


def execute_one(
    program: Program,
    names: tuple[str, ...],
    operands: Sequence[Operand],
    out: Tensor | None = None,
) -> Result:
    """The result of a program that has one."""
    (result,) = execute(program, names, operands, out)
    return result


def explanation_of(program: Program, names: tuple[str, ...], operands: Sequence[Operand]) -> str:
    """Every stage of the program for these operands, as text."""
    operands = checked(program, names, operands)
    numbers, tensors = flatten(operands)
    return bindings.explain(bind(program, names, operands).key, sizes_tensor(numbers), tensors)


def repeatable_call(
    found: BoundProgram, arguments: Arguments
) -> Callable[[], Tensor | list[Tensor]]:
    """A function that runs the program on these arguments and returns what the operator does."""
    head, tensors = _head(found, arguments), arguments.tensors
    if found.has_one_dense_result and 0 < len(tensors) <= bindings.MAX_TENSORS:
        call = bindings.calls[len(tensors) - 1]
        return lambda: call(head, *tensors)
    return lambda: bindings.run(head, tensors)


def _head(found: BoundProgram, arguments: Arguments) -> Tensor:
    return sizes_tensor((found.number, *arguments.numbers))


def _run(
    found: BoundProgram, operands: Sequence[Operand], arguments: Arguments, out: Out
) -> list[Result]:
    """Runs the program on plain operands by the operator with the least overhead."""
    tensors = arguments.tensors
    count = len(tensors)
    if not 0 < count <= bindings.MAX_TENSORS:
        return _run_all(found, operands, arguments, out)
    if found.has_one_dense_result:
        if out is None:
            return [bindings.calls[count - 1](_head(found, arguments), *tensors)]
        if type(out) is Tensor and outputs.is_plain(out):
            outputs.increment_version((out,))
            bindings.calls_into[count - 1](_head(found, arguments), out, *tensors)
            return [out]
    elif found.pattern_source is not None and out is None:
        source = _sparse(operands[found.pattern_source])
        try:
            values = bindings.calls[count - 1](_head(found, arguments), *tensors)
            return [SparseTensor(source._pattern, values)]
        except RuntimeError:
            found.pattern_source = None  # a variant for other sizes has a pattern of its own
    return _run_all(found, operands, arguments, out)


def _run_all(
    found: BoundProgram, operands: Sequence[Operand], arguments: Arguments, out: Out
) -> list[Result]:
    """Runs a program with any number of results, tensors and outputs."""
    head, tensors = _head(found, arguments), arguments.tensors
    if out is None:
        return _wrap(found, operands, bindings.run(head, tensors))
    given = outputs.numbered([result.name for result in found.results], out)
    parts = bindings.run_into(head, tensors, list(given), list(given.values()))
    results = _wrap(found, operands, parts)
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


def _wrap(found: BoundProgram, operands: Sequence[Operand], returned: list[Tensor]) -> list[Result]:
    """The results in what the operator `run` returns: for each its sizes, structure arrays and
    values."""
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
            pattern = _pattern_of(result, shape, arrays)
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


def _pattern_of(result: ResultType, shape: tuple[int, ...], arrays: tuple[Tensor, ...]) -> Pattern:
    living = living_pattern(result.format, shape, arrays)
    return living or Pattern(result.format, shape, arrays, result.index_dtype)


def _sparse(operand: Operand) -> SparseTensor:
    assert isinstance(operand, SparseTensor)
    return operand
