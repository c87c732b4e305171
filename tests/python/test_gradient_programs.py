"""Gradients of random programs: gradcheck and gradgradcheck towards all operands at once.

TULLE_GRADIENT_PROGRAMS sets the number of programs, TULLE_GRADIENT_SEED the first seed. With `-s`
the end of a run prints the seed and the number of programs.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator

import pytest
import torch
from helpers import gradient_checks
from test_gradients import IS_FULL, MATRIX_FORMATS
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck

import tulle

PROGRAMS = int(os.environ.get("TULLE_GRADIENT_PROGRAMS", "240" if IS_FULL else "24"))
SEED = int(os.environ.get("TULLE_GRADIENT_SEED", "1"))
EXTENTS = {"i": 4, "j": 5, "k": 3}
SPARSE = {"A": "ij", "B": "ij", "D": "jk"}
DENSE = {"X": "jk", "Q": "ik", "c": "i", "r": "j", "s": ""}
SMOOTH = ["tanh", "sin", "sigmoid", "square", "erf", "atan", "expm1", "exp", "cos"]
REDUCTIONS = ["sum", "sum", "sum", "mean", "logsumexp", "max", "min"]
checked = {"programs": 0, "refused": 0}


class Draw:
    """Draws the statements of one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.tensors = {**SPARSE, **DENSE}
        self.has_softmax = self.has_extremum = False
        self.statements: list[str] = []
        for at in range(self.random.choice([1, 1, 2, 3])):
            self._statement(f"T{at}")

    @property
    def text(self) -> str:
        return "\n".join(self.statements)

    def _statement(self, name: str) -> None:
        value, free = self._sum()
        kept = "".join(index for index in sorted(free) if self.random.random() < 0.7)
        for index in sorted(free - set(kept)):
            kind = self.random.choice(REDUCTIONS)
            if kind in ("max", "min") and self.has_softmax:
                kind = "sum"  # weights of rows with one entry tie
            self.has_extremum |= kind in ("max", "min")
            value = f"{kind}({index}, {value})"
        self.statements.append(
            f"{name}[{','.join(kept)}] = {value}" if kept else f"{name} = {value}"
        )
        self.tensors[name] = kept

    def _sum(self) -> tuple[str, set[str]]:
        value, free = self._product()
        if self.random.random() < 0.4:
            other, more = self._product()
            value, free = f"({value} {self.random.choice('+-')} {other})", free | more
        return value, free

    def _product(self) -> tuple[str, set[str]]:
        factors, free = [], set()
        for _ in range(self.random.choice([1, 2, 2, 3])):
            factor, more = self._factor()
            factors.append(factor)
            free |= more
        value = " * ".join(factors)
        if self.random.random() < 0.2:
            other, more = self._factor()
            value, free = f"{value} / (2 + square({other}))", free | more
        return value, free

    def _factor(self) -> tuple[str, set[str]]:
        name = self.random.choice(sorted(self.tensors))
        indices = self.tensors[name]
        text = f"{name}[{','.join(indices)}]" if indices else name
        chance = self.random.random()
        if chance < 0.25:
            text = f"{self.random.choice(SMOOTH)}({text})"
        elif chance < 0.32 and name in SPARSE and not self.has_extremum:
            self.has_softmax = True
            text = f"softmax({indices[1]} in {text}, {text})"
        elif chance < 0.38 and not self.has_softmax:
            self.has_extremum = True
            text = f"max({text}, 0.3)"
        return text, set(indices)


def operands_of(seed: int, text: str) -> tuple[dict[str, tulle.SparseTensor], dict[str, Tensor]]:
    """The sparse operands that the text reads, in random formats, and all leaves."""
    chosen = random.Random(seed)
    torch.manual_seed(seed)
    formats = [format for format in MATRIX_FORMATS if "dense, i: dense" not in format]
    if "max(" in text or "min(" in text:
        # The zeros that pad a format would tie, and a tie has no derivative.
        formats = ["csr", "csc", "coo", "dcsr", "dcsc"]
    patterns, leaves = {}, {}
    for name, indices in {**SPARSE, **DENSE}.items():
        if not re.search(rf"\b{name}\b", text):
            continue
        shape = [EXTENTS[index] for index in indices]
        whole = torch.rand(shape, dtype=torch.float64) + 0.25
        if name in SPARSE:
            kept = whole * (torch.rand(shape) < 0.5)
            patterns[name] = tulle.tensor(kept).to(format=chosen.choice(formats))
            leaves[name] = patterns[name].values().detach().clone()
        else:
            leaves[name] = whole
    return patterns, leaves


@pytest.fixture(scope="module", autouse=True)
def count() -> Iterator[None]:
    yield
    print(f"\ngradients of random programs from seed {SEED}: {checked}")


@pytest.mark.parametrize("seed", range(SEED, SEED + PROGRAMS))
def test_random_program(seed: int) -> None:
    text = Draw(seed).text
    patterns, leaves = operands_of(seed, text)
    names = list(leaves)

    def function(*given: Tensor) -> tuple[Tensor, ...]:
        operands = {
            name: patterns[name].with_values(leaf) if name in patterns else leaf
            for name, leaf in zip(names, given, strict=True)
        }
        found = tulle.compute(text, **operands)
        several = found if isinstance(found, tuple) else (found,)
        return tuple(
            one.to_dense() if isinstance(one, tulle.SparseTensor) else one for one in several
        )

    inputs = tuple(leaf.requires_grad_() for leaf in leaves.values())
    try:
        function(*inputs)
    except (tulle.Unsupported, tulle.UserError) as error:
        checked["refused"] += 1
        pytest.skip(str(error).splitlines()[0])
    checked["programs"] += 1
    # Padding of parts and blocks is no input of the function.
    if not any(pattern.pattern.has_padding for pattern in patterns.values()):
        assert gradcheck(function, inputs, check_forward_ad=True), text
        gradient_checks["gradcheck"] += len(names)
    assert gradgradcheck(function, inputs), text
    gradient_checks["gradgradcheck"] += len(names)
