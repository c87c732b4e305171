"""Index notation over tensors given by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tulle.errors import Unsupported, UserError
from tulle.formats import Format
from tulle.operands import as_operand, as_scalar, is_number
from tulle.programs import Operand, Program, execute, out_format_text

OutFormat = str | Format | Mapping[str, str | Format] | None

_NAME = re.compile(r"[A-Za-z_]\w*")


def compute(
    text: str,
    out_format: OutFormat = None,
    sizes: Mapping[str, int] | None = None,
    **operands: Any,
) -> Any:
    """Runs statements of index notation, "S[i,j] = A[i,j] * Q[i,d] * K[j,d]" for instance, over
    tensors, arrays and numbers given by name.

    Returns the results of the statements that nothing later uses, in their order: one tensor, or a
    tuple of several. `out_format` is the format of the result, or a dict of formats by name.
    """
    if sizes:
        raise Unsupported("compute: sizes= is not supported yet; extents come from the operands.")
    program, names, tensors = prepare(text, operands, out_format)
    results = execute(program, names, tensors)
    return results[0] if len(results) == 1 else tuple(results)


def prepare(
    text: str, operands: Mapping[str, Any], out_format: OutFormat = None
) -> tuple[Program, list[str], list[Operand]]:
    """The program and what it runs on."""
    read = set(_NAME.findall(text))
    for name in operands:
        if name not in read:
            raise UserError(f"{name} is given, but no statement reads it; leave it out.")
    tensors = {
        name: as_operand(name, value) for name, value in operands.items() if not is_number(value)
    }
    others = list(tensors.values())
    for name, value in operands.items():
        if is_number(value):
            tensors[name] = as_scalar(value, others)
    program = Program(text.strip(), out_formats=out_formats(text, out_format))
    return program, list(tensors), list(tensors.values())


def out_formats(text: str, out_format: OutFormat) -> tuple[tuple[str, str], ...]:
    """Formats by the name of the result, as a program has them."""
    if out_format is None:
        return ()
    if isinstance(out_format, Mapping):
        return tuple((name, str(out_format_text(each))) for name, each in out_format.items())
    names = result_names(text)
    if len(names) != 1:
        raise UserError(
            f"out_format: the statements have {len(names)} results ({', '.join(names)}); give the "
            f"formats by name, out_format={{{names[0] if names else 'C'!r}: {str(out_format)!r}}}."
        )
    return ((names[0], str(out_format_text(out_format))),)


def result_names(text: str) -> list[str]:
    """The names that are assigned and not read later, in order."""
    assigned: list[str] = []
    for statement in re.split(r"[;\n]", text):
        left, equals, right = statement.partition("=")
        read = set(_NAME.findall(right))
        assigned = [name for name in assigned if name not in read]
        name = _NAME.match(left.strip())
        if equals and name:
            assigned.append(name[0])
    return assigned
