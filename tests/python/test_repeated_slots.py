"""Storage in which slots repeat coordinates at each level: it is the sum of its entries, or refused
because it is out of order."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

import tulle

SHAPE = (2, 3, 4)
FORMATS = [
    f"(i,j,k) -> ({levels})"
    for levels in (
        "i: compressed nonunique, j: compressed nonunique, k: compressed",
        "i: compressed nonunique, j: compressed nonunique, k: compressed nonunique",
        "i: compressed nonunique, j: compressed nonunique, k: singleton",
        "i: compressed nonunique, j: compressed nonunique, k: singleton unordered",
        "i: compressed nonunique unordered, j: compressed nonunique, k: singleton",
        "i: compressed nonunique, j: compressed nonunique unordered, k: singleton nonunique",
        "i: compressed nonunique, j: compressed nonunique, k: dense",
        "i: compressed nonunique, j: dense, k: compressed",
        "i: compressed nonunique, j: singleton nonunique, k: dense",
        "i: compressed nonunique, j: singleton nonunique, k: compressed",
        "i: compressed nonunique, j: compressed, k: compressed",
        "i: dense, j: compressed nonunique, k: compressed unordered",
    )
]
OTHERS = [
    "(i,j,k) -> (j: dense, i: compressed, k: compressed)",
    "(i,j,k) -> (k: compressed, j: compressed, i: compressed)",
    "(i,j,k) -> (i: compressed, j: dense, k: compressed)",  # also of slots with nothing below
]


def drawn(format: str, dice: random.Random) -> tuple[list[dict[str, Any]], list[list[int]]]:
    """Levels, and the coordinates of each stored value."""
    levels: list[dict[str, Any]] = []
    slots: list[list[int]] = [[]]
    for level, size in zip(tulle.Format(format).levels, SHAPE, strict=True):
        pos, crd, below = [0], [], []
        for slot in slots:
            if level.direct:
                chosen = list(range(size))
            elif level.pos:
                chosen = [dice.randrange(size) for _ in range(dice.randint(0, 2))]
                if "unordered" not in format or dice.random() < 0.5:
                    chosen.sort()
            else:
                chosen = [dice.randrange(size)]
            crd += chosen
            pos.append(len(crd))
            below += [[*slot, coordinate] for coordinate in chosen]
        slots = below
        arrays = {"pos": pos, "crd": crd}
        held = {name: torch.tensor(arrays[name], dtype=torch.int64) for name in level.arrays}
        levels.append(held)
    return levels, slots


@pytest.mark.parametrize("format", FORMATS)
def test_repeated_slots_are_added_up(format: str) -> None:
    dice = random.Random(format)
    taken = 0
    for _ in range(30):
        levels, slots = drawn(format, dice)
        values = torch.tensor([dice.randint(1, 9) for _ in slots], dtype=torch.float64)
        wanted = torch.zeros(SHAPE, dtype=torch.float64)
        for coordinates, value in zip(slots, values, strict=True):
            wanted[tuple(coordinates)] += value
        try:
            A = tulle.from_levels(format, SHAPE, levels, values)
        except tulle.UserError as error:
            assert "follows" in str(error) or "same coordinates" in str(error)
            continue
        taken += 1
        torch.testing.assert_close(A.to_dense(), wanted)
        torch.testing.assert_close(A.amax(0), wanted.amax(0))
        torch.testing.assert_close((A * A).to_dense(), wanted * wanted)
        for other in OTHERS:
            converted = A.to(format=other)
            torch.testing.assert_close(converted.to_dense(), wanted)
            again = tulle.from_levels(other, SHAPE, converted.levels(), converted.values())
            assert again.nnz == converted.nnz
    assert taken >= 5
