"""Direct calls of the operators `torch.ops.tulle.*` with pieces that may be anything."""

from __future__ import annotations

import random
from typing import Any

import torch
from mutations import Pieces
from torch import Tensor

import tulle  # registers the operators

ops = torch.ops.tulle
_STATEMENTS = {
    2: ["y[i] = A[i,j]", "C[i,k] = A[i,j] * B[j,k]", "C[i,j] = 2 * A[i,j]", "s = A[i,j] * A[i,j]"],
    3: ["Y[i,j] = A[i,j,k]", "C[i,j,k] = 2 * A[i,j,k]"],
}
_ONES = torch.float64


def _spec(pieces: Pieces) -> str:
    index = "i32" if pieces.index_dtype == torch.int32 else "i64"
    rank = len(tulle.Format(pieces.format, 2).parts)
    return f"f64 {index} {len(pieces.numbers) - rank} {pieces.format}"


def _key(pieces: Pieces, dice: random.Random) -> str:
    rank = int(_spec(pieces).split(" ")[2])
    statement = dice.choice(_STATEMENTS.get(rank, _STATEMENTS[2]))
    lines = [f"operand A {_spec(pieces)}"]
    if "B[" in statement:
        lines.append("operand B f64 i64 2 dense")
    return "\n".join([*lines, "compute", statement])


def _sizes(pieces: Pieces, dice: random.Random) -> list[Any]:
    sizes = list(pieces.numbers)
    if dice.random() < 0.1:
        sizes += [dice.choice([-1, -2, 0, 5, ~tulle.tensor(torch.eye(2)).pattern.hold()])]
    return sizes


def _tensors(pieces: Pieces, key: str, dice: random.Random) -> list[Any]:
    tensors = [*pieces.arrays, pieces.values]
    if "operand B" in key:
        rows = pieces.numbers[-1] if pieces.numbers and dice.random() < 0.9 else dice.randint(0, 9)
        b = torch.ones(
            min(max(rows, 0), 64) if isinstance(rows, int) else 1, 3, dtype=torch.float64
        )
        tensors.append(b if dice.random() < 0.9 else b.t())
    return tensors if dice.random() < 0.95 else tensors[: dice.randint(0, len(tensors))]


def call(pieces: Pieces, dice: random.Random) -> object:
    """Calls one of the operators, and returns what it returns."""
    key = _key(pieces, dice)
    sizes, tensors = _sizes(pieces, dice), _tensors(pieces, key, dice)
    kind = dice.choice(["compute", "run", "call", "into", "explain", "hold", "select", "check"])
    if kind == "compute":
        return ops.compute(key, sizes, tensors)
    vector = torch.tensor(sizes)
    if kind == "explain":
        operator = dice.choice([ops.explain, ops.candidates])
        return operator(key, vector, tensors)
    if kind == "check":
        return dice.choice([ops.validate, ops.is_in_order])("A", _spec(pieces), vector, tensors)
    if kind == "select":
        return ops.select_parts("hyb(2,2)", _spec(pieces), vector, tensors)
    if kind == "hold":
        return _held(pieces, key, vector, tensors, dice)
    head = torch.cat([torch.tensor([ops.number(key)]), vector])
    if kind == "run":
        return ops.run(head, tensors)
    if kind == "call":
        return getattr(ops, f"call{max(len(tensors), 1)}")(head, *tensors)
    out = torch.zeros(dice.choice([1, 3, 8]), 3, dtype=torch.float64)
    return getattr(ops, f"into{max(len(tensors), 1)}")(head, out, *tensors)


def _held(
    pieces: Pieces, key: str, sizes: Tensor, tensors: list[Any], dice: random.Random
) -> object:
    """Holds a structure, changes an array in one of ways that PyTorch counts, and passes the number
    to the operator."""
    number = ops.new_structure()
    token = dice.choice([0, 0, 1, 2**61])
    arrays, others = tensors[: len(pieces.arrays)], tensors[len(pieces.arrays) :]
    count = pieces.values.numel() if dice.random() < 0.9 else dice.randint(0, 99)
    try:
        ops.hold_structure(token, number, _spec(pieces), sizes, arrays, count)
        if dice.random() < 0.3 and arrays:
            array = dice.choice(arrays)
            array.data = torch.full_like(array, 2**30)
        head = torch.cat([torch.tensor([ops.number(key)]), sizes, torch.tensor([~number])])
        return ops.run(head, others)
    finally:
        ops.release_structure(number)
