"""torch.einsum over sparse and dense tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from tulle.arguments import check_text
from tulle.errors import Unsupported, UserError
from tulle.operands import as_operand
from tulle.programs import Operand, OutFormat, Program, Result, execute_one, out_formats

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def einsum(
    equation: str,
    /,
    *operands: Any,
    out_format: OutFormat = None,
    reduce: str = "sum",
    out: Tensor | None = None,
) -> Result:
    """The sum of products that the equation says, "ij,jk->ik" for instance, over operands of any
    rank and format; `...`, implicit outputs and broadcasting as in torch. A dense result is written
    to `out`, if that is given."""
    program, names, tensors = prepare(equation, operands, out_format, reduce)
    return execute_one(program, names, tensors, out)


def prepare(
    equation: str,
    operands: Sequence[Any],
    out_format: OutFormat = None,
    reduce: str = "sum",
) -> tuple[Program, list[str], list[Operand]]:
    """The program of an einsum and what it runs on."""
    check_text("einsum", equation, "ij,jk->ik")
    if reduce != "sum":
        raise Unsupported(f"einsum: reduce={reduce!r} is not supported; this version has 'sum'.")
    names = [f"t{n}" for n in range(len(operands))]
    tensors = [as_operand(name, value) for name, value in zip(names, operands, strict=True)]
    if any(1 in tensor.shape for tensor in tensors):
        equation = _broadcast(equation, [tuple(tensor.shape) for tensor in tensors])
    formats = out_formats(out_format)
    return Program("".join(equation.split()), is_einsum=True, out_formats=formats), names, tensors


def _broadcast(equation: str, shapes: list[tuple[int, ...]]) -> str:
    """Gives dimensions of size 1 that stand beside larger ones a letter of their own, which is
    summed. What is wrong with the equation is left for the compiler to say."""
    inputs, arrow, output = "".join(equation.split()).partition("->")
    terms = inputs.split(",")
    if len(terms) != len(shapes):
        return equation
    if "..." in equation:
        raise_if_short(terms, shapes)
        terms, output = _without_ellipsis(terms, output, bool(arrow), shapes)
    elif not arrow:
        output = _implicit_output(terms)
    largest: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        if len(term) != len(shape):
            return equation
        for letter, size in zip(term, shape, strict=True):
            largest[letter] = max(size, largest.get(letter, 1)) if size != 0 else 0
    used = set("".join(terms))
    free = (letter for letter in _LETTERS if letter not in used)
    changed = [
        "".join(
            next(free) if size == 1 and largest[letter] != 1 else letter
            for letter, size in zip(term, shape, strict=True)
        )
        for term, shape in zip(terms, shapes, strict=True)
    ]
    return f"{','.join(changed)}->{output}"


def raise_if_short(terms: list[str], shapes: list[tuple[int, ...]]) -> None:
    """Refuses an operand with fewer dimensions than subscripts."""
    for at, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        if len(term.replace("...", "")) > len(shape):
            raise UserError(
                f"einsum: operand {at} has {len(shape)} dimensions, but more subscripts: {term!r}."
            )


def _without_ellipsis(
    terms: list[str], output: str, has_output: bool, shapes: list[tuple[int, ...]]
) -> tuple[list[str], str]:
    """Letters in place of `...`: those of an operand with fewer such dimensions are the last."""
    counts = [
        len(shape) - len(term) + 3 if "..." in term else 0
        for term, shape in zip(terms, shapes, strict=True)
    ]
    used = set("".join(terms) + output)
    letters = [letter for letter in reversed(_LETTERS) if letter not in used][: max(counts)]
    if not has_output:
        output = "..." + _implicit_output([term.replace("...", "") for term in terms])
    ends = ["".join(letters[len(letters) - count :]) if count else "" for count in counts]
    expanded = [term.replace("...", end) for term, end in zip(terms, ends, strict=True)]
    return expanded, output.replace("...", "".join(letters))


def _implicit_output(terms: list[str]) -> str:
    everything = "".join(terms)
    return "".join(sorted(letter for letter in set(everything) if everything.count(letter) == 1))
