#!/usr/bin/env python3
"""Fuzzes the parsers with strings: formats, index notation, equations, schedules and keys.

Each string must be accepted, or refused with UserError or Unsupported.

    strings.py --count 200000 [--seed 1]
    strings.py --seed 1 --only 123             # one string again
"""

from __future__ import annotations

import argparse
import collections
import random
import re
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import torch

import tulle
from tulle.library import bindings

REFUSALS = (tulle.UserError, tulle.Unsupported)
SECONDS = 10  # a string that takes longer hangs

FORMATS = [
    *("csr", "coo", "bsr(2,3)", "sr-bcrs(8,4)", "ell(4)", "pieces(4)", "hyb(2,3)", "dia"),
    "(i,j) -> (i: dense, j: compressed)",
    "(i,j,k) -> (k: compressed nonunique, j: singleton unordered, i: padded(4))",
    "(i,j) -> (i/8: dense, j: compressed multiple(4), i%8: dense)",
    "(i,j) -> (j-i: compressed, i: range)",
    "{ band(-1,1): dia; rest: csr }",
    "(i,j) -> { rows(nnz<=4): ell(4); cols(nnz>2): csc; rest: csr }",
    "columns(2): { rows(nnz<=1): bitmap; rest: csr }",
]
NOTATION = [
    "C[i,k] = A[i,j] * B[j,k]",
    "n[i] = sqrt(sum(j, A[i,j] * A[i,j]))",
    "W[i,j] = softmax(j in A[i,j], A[i,j] * Q[i,d] * K[j,d]); y[i] = max(j in A[i,j], W[i,j])",
    "y[i] = where(A[i,i] > 0, exp(-A[i,i]), 1.5e-3) / b[i]",
    "s = sum((i,j), max(A[i,j], 2)) + mean(i, b[i])",
]
EQUATIONS = ["ij,jk->ik", "...ij,...jk->...ik", "ii->i", "ij->", "i,j,k->ijk", "ij,jk"]
SCHEDULES = [
    "split(k, 32, k0, k1); reorder(i, k0, j, k1); precompute(acc, k1); parallel(i, by=nnz)",
    "unroll(j, 2); vectorize(k, 8)",
    "decompose(A, hyb(2,3))",
    "bind(i, block); stage(B, j, shared, 2)",
    "fuse(i, j, f); rfactor(f, 4)",
]
KEYS = [
    f"operand A f32 i32 2 longest=64 csr\noperand B f32 i64 2 dense\n{rest}"
    for rest in (
        "compute\nC[i,k] = A[i,j] * B[j,k]",
        "out * csr\none 1 0\nreduce amax\neinsum\nij,jk->ik",
        "schedule parallel(i)\nfeatures avx2\nchecked\nuntuned\ncompute\nC[i,k] = A[i,j] * B[j,k]",
    )
]
_PARTS = [*"()[]{},;:=+-*/%<>.|&^!~@#$ '\"\\\n\t\0", "->", "<=", "==", "é", "∞", "\U0001f600"]
_PARTS += ["0", "1", "-1", "65536", "2147483648", "9223372036854775808", "1e999", "nan", "0x1"]
_PARTS += ["i", "j", "A", "dense", "compressed", "multiple(0)", "padded(0)", "rest", "rows", "in"]
_PARTS += ["i", "j", "k", "A", "B", "2", "3", "csr", "coo", "0.5", "1", "+", "*", ",", " "]
_PARTS += ["sum", "max", "where", "nonunique", "hyb", "dia", "i/0", "i%0", "parallel", "split"]


def _notation(text: str) -> object:
    return bindings.describe_notation(text, "")


def _schedule(text: str) -> object:
    return bindings.describe_notation(NOTATION[0], text)


def _equation(text: str) -> object:
    return tulle.einsum(text, torch.ones(2, 2), torch.ones(2, 2))


def _format(text: str) -> object:
    known = tulle.Format(text, 2)
    parts = [part.format for part in known.parts] or [known]
    return [known.long_form, known.is_dense, *(one.levels for one in parts)]


def _program(text: str) -> object:
    return bindings.describe(text)


def _derivative(text: str) -> object:
    return bindings.gradient(text, "A", "C")


PARSERS: list[tuple[Callable[[str], object], list[str]]] = [
    (_format, FORMATS),
    (_notation, NOTATION),
    (_schedule, SCHEDULES),
    (_equation, EQUATIONS),
    (_program, KEYS),
    (_program, [f"operand A f32 i32 2 csr\ncompute\n{one}" for one in NOTATION]),
    (_derivative, KEYS),
]


def with_other_word(text: str, others: list[str], dice: random.Random) -> str:
    """The text with a word in place of another one, so that much of it stays valid."""
    words = re.findall(r"\w+|[^\w\s]", dice.choice(others))
    places = list(re.finditer(r"\w+|[^\w\s]", text))
    if not places or not words:
        return text
    place = dice.choice(places)
    same_kind = [word for word in words if word[0].isalnum() == place[0][0].isalnum()]
    return text[: place.start()] + dice.choice(same_kind or words) + text[place.end() :]


def mutated(text: str, others: list[str], dice: random.Random) -> str:
    for _ in range(dice.choice([1, 1, 1, 1, 2, 3, 6])):
        if dice.random() < 0.5:
            text = with_other_word(text, others, dice)
            continue
        at = dice.randint(0, len(text))
        end = min(len(text), at + dice.choice([0, 1, 1, 2, 5, 20]))
        kind = dice.choice([0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6])
        if kind == 0:
            text = text[:at] + text[end:]
        elif kind == 1:
            text = text[:at] + dice.choice(_PARTS) + text[at:]
        elif kind == 2:
            text = text[:at] + dice.choice(_PARTS) + text[end:]
        elif kind == 3:
            text = text[:at] + text[at:end] * dice.choice([2, 3, 50]) + text[end:]
        elif kind == 4:
            other = dice.choice(others)
            text = text[:at] + other[dice.randint(0, len(other)) :]
        elif kind == 5:
            text = text[:at] + "".join(dice.choices(_PARTS, k=dice.randint(1, 8))) + text[end:]
        else:
            nested = dice.choice(["(", "[", "-", "exp(", "sum(i, ", "{", "A[i] + "])
            text = text[:at] + nested * dice.choice([1, 2, 30, 2000]) + text[at:]
    return text


class Hangs(Exception):
    """A string takes too long."""


def _stop(*_: Any) -> None:
    raise Hangs


def run_one(seed: int, number: int, verbose: bool = False) -> tuple[str, str]:
    """The parser and the outcome of a string. Raises for a failure."""
    dice = random.Random(f"{seed} {number}")
    parser, seeds = dice.choice(PARSERS)
    others = seeds if dice.random() < 0.8 else [one for _, some in PARSERS for one in some]
    text = mutated(dice.choice(seeds), others, dice)
    if verbose:
        print(f"{parser.__name__}: {text!r}", file=sys.stderr)
    try:
        parser(text)
    except REFUSALS:
        return parser.__name__[1:], "refused"
    return parser.__name__[1:], "accepted"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    arguments = parser.parse_args()
    if arguments.only is not None:
        print(run_one(arguments.seed, arguments.only, verbose=True))
        return 0
    signal.signal(signal.SIGALRM, _stop)
    outcomes: collections.Counter[tuple[str, str]] = collections.Counter()
    failures = 0
    start = time.time()
    for number in range(arguments.first, arguments.first + arguments.count):
        signal.alarm(SECONDS)
        began = time.time()
        try:
            outcomes[run_one(arguments.seed, number)] += 1
        except (Exception, Hangs):
            failures += 1
            print(f"seed {arguments.seed}, string {number}:", file=sys.stderr)
            traceback.print_exc(limit=-4)
        # The library cannot be interrupted, so a signal arrives after it returns.
        if time.time() - began > SECONDS:
            failures += 1
            print(f"seed {arguments.seed}, string {number} took {time.time() - began:.0f} s")
    signal.alarm(0)
    for parser_name in sorted({name for name, _ in outcomes}):
        accepted, refused = (outcomes[parser_name, one] for one in ("accepted", "refused"))
        print(f"{parser_name}: {accepted} accepted, {refused} refused")
    seconds = time.time() - start
    print(
        f"seed {arguments.seed}: {arguments.count} strings in {seconds:.0f} s, {failures} failures"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
