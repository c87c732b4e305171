"""Random tensors in many formats, taken apart, and mutations of their pieces."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

import tulle

MATRICES = [
    *("csr", "csc", "coo", "dcsr", "dcsc", "csf", "bsr(2,3)", "bsc(3,2)", "dbsr(2,2)", "ell(4)"),
    *("dell(5)", "pieces(2)", "pieces(4)", "dia", "ragged", "bitmap", "sr-bcrs(2,2)", "hyb(2,2)"),
    "{ band(-1,1): dia; rest: csr }",
    "{ rows(nnz<=1): bitmap; rest: csr }",
    "{ rows(nnz<=2): ell(2); rest: pieces(2) }",
    "(i,j) -> (j: dense, i: dense)",
    "(i,j) -> (i: compressed nonunique unordered, j: singleton nonunique unordered)",
    "(i,j) -> (i: dense, j: compressed nonunique unordered)",
    "(i,j) -> (i: dense, j: compressed multiple(4))",
    "(i,j) -> (j: bitmap, i: compressed)",
    "(i,j) -> (i/2: dense, j: compressed multiple(2), i%2: dense)",
    "(i,j) -> (i: padded(4), j: compressed)",
    "(i,j) -> (j-i: compressed, i: range)",
]
TENSORS = [
    *("csf", "coo", "bitmap"),
    "(i,j,k) -> (i: dense, j: compressed, k: compressed)",
    "(i,j,k) -> (k: compressed, j: dense, i: compressed multiple(2))",
    "(i,j,k) -> (i: compressed nonunique, j: singleton nonunique, k: singleton)",
    "(i,j,k) -> (i: dense, j: ragged, k: dense)",
]
# Few shapes, because each program is compiled for small sizes.
SHAPES: dict[int, list[tuple[int, ...]]] = {2: [(5, 7), (6, 4), (1, 3)], 3: [(3, 4, 5), (2, 1, 6)]}
INDEX_DTYPES = [torch.int32, torch.int64]


@dataclass
class Pieces:
    """What a sparse tensor consists of. Mutants hold anything."""

    format: Any
    numbers: Any  # the shape; for a composite format also the counts of the parts
    arrays: Any
    values: Any
    index_dtype: Any
    mutations: list[str] = field(default_factory=list)


def drawn(dice: random.Random) -> tulle.SparseTensor:
    """A valid sparse tensor."""
    rank = 2 if dice.random() < 0.8 else 3
    format = dice.choice(MATRICES if rank == 2 else TENSORS)
    shape = dice.choice(SHAPES[rank])
    density = dice.choice([0.0, 0.1, 0.3, 0.6])
    generator = torch.Generator().manual_seed(dice.getrandbits(30))
    keep = torch.rand(shape, generator=generator) < density
    dense = torch.randint(1, 9, shape, generator=generator).to(torch.float64) * keep
    source = tulle.tensor(dense, index_dtype=dice.choice(INDEX_DTYPES), format="coo")
    try:
        return source.to(format=format)
    except (tulle.UserError, tulle.Unsupported):  # such as rows that are too long for ell(4)
        return source


def taken_apart(tensor: tulle.SparseTensor) -> Pieces:
    arrays = tuple(array.clone() for array in tensor.pattern.arrays)
    own = tensor.pattern
    return Pieces(str(own.format), own.numbers, arrays, tensor.values().clone(), tensor.index_dtype)


# ---- mutations of arrays -------------------------------------------------------------------------

_EXTREMES = [-1, -2, 0, 1, 2, 3, 7, 8, 100, 2**31 - 1, -(2**31), 2**40, 2**62, -(2**63)]


def _number(dice: random.Random, dtype: torch.dtype) -> int:
    number = dice.choice(_EXTREMES) if dice.random() < 0.6 else dice.randint(-3, 12)
    if dtype == torch.int32:
        return max(-(2**31), min(2**31 - 1, number))
    return number


def _flat_copy(array: Tensor) -> Tensor:
    return array.detach().reshape(-1).clone()


def _changed_element(array: Tensor, dice: random.Random) -> Tensor:
    array = _flat_copy(array)
    if array.numel():
        at = dice.randrange(array.numel())
        if array.dtype == torch.bool:  # a byte other than 0 and 1 as well
            array.view(torch.uint8)[at] = dice.choice([0, 1, 2, 255])
        elif array.dtype in INDEX_DTYPES:
            array[at] = _number(dice, array.dtype)
        else:
            array[at] = dice.randint(-4, 4)
    return array


def _nudged(array: Tensor, dice: random.Random) -> Tensor:
    array = _flat_copy(array)
    if array.numel() and array.dtype != torch.bool:
        array[dice.randrange(array.numel())] += dice.choice([-1, 1])
    return array


def _swapped(array: Tensor, dice: random.Random) -> Tensor:
    array = _flat_copy(array)
    if array.numel() > 1:
        a, b = dice.randrange(array.numel()), dice.randrange(array.numel())
        array[[a, b]] = array[[b, a]]
    return array


def _unused(array: Tensor, dice: random.Random) -> Tensor:
    array = _flat_copy(array)
    if array.numel() and array.dtype in INDEX_DTYPES:
        first = dice.randrange(array.numel())
        array[first : first + dice.choice([1, 2, 4, 8])] = -1
    return array


def _longer(array: Tensor, dice: random.Random) -> Tensor:
    more = torch.zeros(dice.choice([1, 2, 4, 64]), dtype=array.dtype)
    return torch.cat([array.reshape(-1), more])


def _shorter(array: Tensor, dice: random.Random) -> Tensor:
    return array.reshape(-1)[: dice.randint(0, max(array.numel() - 1, 0))].clone()


def _strided(array: Tensor, dice: random.Random) -> Tensor:
    flat = array.reshape(-1)
    kind = dice.randrange(5)
    if kind == 0:
        return flat.repeat_interleave(2)[::2]
    if kind == 1:
        return flat[:1].expand(flat.numel()) if flat.numel() else flat
    if kind == 2:
        return flat.reshape(1, -1)
    if kind == 3:
        return torch.cat([flat.new_zeros(1), flat])[1:]
    return flat.reshape(()) if flat.numel() == 1 else flat.flip(0)


_DTYPES = [*INDEX_DTYPES, torch.bool, torch.float32, torch.float64, torch.uint8, torch.int16]
_DTYPES += [torch.complex64, torch.bfloat16]


def _retyped(array: Tensor, dice: random.Random) -> Tensor:
    return array.to(dice.choice(_DTYPES))


def _other_kind(array: Tensor, dice: random.Random) -> Any:
    kinds: list[Callable[[], Any]] = [
        lambda: None,
        lambda: array.tolist(),
        lambda: "array",
        lambda: array.to("meta"),
        lambda: torch.zeros(3).to_sparse(),
        lambda: torch.nn.Parameter(array.to(torch.float64)),
        lambda: torch.empty(0, dtype=array.dtype),
    ]
    return dice.choice(kinds)()


_OF_ARRAYS: list[Callable[[Tensor, random.Random], Any]] = [
    *(_changed_element, _changed_element, _nudged, _nudged, _swapped, _unused, _unused),
    *(_longer, _shorter, _strided, _retyped, _other_kind),
]


# ---- mutations of a whole tensor -----------------------------------------------------------------


def _has_elements(array: Any) -> bool:
    """Whether another mutation can change the elements of what an earlier one left."""
    if not isinstance(array, Tensor) or array.device.type != "cpu":
        return False
    return array.layout == torch.strided


def _array(pieces: Pieces, dice: random.Random) -> Pieces:
    arrays = list(pieces.arrays)
    if not arrays:
        return pieces
    at = dice.randrange(len(arrays))
    if _has_elements(arrays[at]):
        arrays[at] = dice.choice(_OF_ARRAYS)(arrays[at], dice)
    return replace(pieces, arrays=tuple(arrays))


def _with_unused_group(pieces: Pieces, dice: random.Random) -> Pieces:
    """Adds unused slots to the last segment."""
    arrays = list(pieces.arrays)
    if len(arrays) < 2 or not all(isinstance(one, Tensor) for one in (*arrays, pieces.values)):
        return pieces
    try:
        more = dice.choice([1, 2, 4, 8])
        arrays[-1] = torch.cat([arrays[-1], torch.full((more,), -1, dtype=arrays[-1].dtype)])
        arrays[-2] = arrays[-2].clone()
        arrays[-2][-1] += more
        values = torch.cat([pieces.values, pieces.values.new_zeros(more)])
    except (RuntimeError, IndexError, TypeError):  # of arrays that an earlier mutation made
        return pieces
    return replace(pieces, arrays=tuple(arrays), values=values)


def _values(pieces: Pieces, dice: random.Random) -> Pieces:
    if not _has_elements(pieces.values):
        return pieces
    return replace(pieces, values=dice.choice(_OF_ARRAYS)(pieces.values, dice))


def _order(pieces: Pieces, dice: random.Random) -> Pieces:
    arrays = list(pieces.arrays)
    dice.shuffle(arrays)
    if dice.random() < 0.3 and arrays:
        arrays.pop()
    if dice.random() < 0.2 and arrays:
        arrays.append(arrays[0])
    return replace(pieces, arrays=tuple(arrays))


def _aliases(pieces: Pieces, dice: random.Random) -> Pieces:
    """Makes two arrays share memory."""
    arrays = list(pieces.arrays)
    if not arrays:
        return pieces
    source = dice.choice(arrays)
    if not isinstance(source, Tensor) or source.layout != torch.strided:
        return pieces
    if dice.random() < 0.3:
        return replace(pieces, values=source.detach())
    at = dice.randrange(len(arrays))
    if isinstance(arrays[at], Tensor) and arrays[at].numel() <= source.numel():
        arrays[at] = source.reshape(-1)[: arrays[at].numel()]
    return replace(pieces, arrays=tuple(arrays))


def _shape(pieces: Pieces, dice: random.Random) -> Pieces:
    numbers: list[Any] = list(pieces.numbers)
    kind = dice.randrange(5)
    if kind == 0 and numbers:
        numbers.pop(dice.randrange(len(numbers)))
    elif kind == 1:
        numbers.insert(dice.randint(0, len(numbers)), dice.choice([1, 2, 64]))
    elif kind == 2:
        dice.shuffle(numbers)
    elif numbers:
        at = dice.randrange(len(numbers))
        now = numbers[at] if isinstance(numbers[at], int) else 0
        small = [now - 1, now + 1, 0, 1]
        numbers[at] = dice.choice([*small, -1, 2**31, 2**62, 2**63 - 1, 1.5, "3", None, True])
    return replace(pieces, numbers=tuple(numbers))


def _format(pieces: Pieces, dice: random.Random) -> Pieces:
    known = MATRICES + TENSORS
    text: Any = dice.choice([*known, *known, "dense", "csr", "", "((", "ell(0)", "pieces(0)", 3])
    return replace(pieces, format=text)


def _index_dtype(pieces: Pieces, dice: random.Random) -> Pieces:
    return replace(pieces, index_dtype=dice.choice([*_DTYPES, None, "int32"]))


_OF_TENSORS: list[Callable[[Pieces, random.Random], Pieces]] = [
    *([_array] * 10),
    *([_with_unused_group] * 2),
    *([_values] * 3),
    *(_order, _aliases, _shape, _shape, _format, _index_dtype),
]


def mutated(pieces: Pieces, dice: random.Random) -> Pieces:
    """The pieces after up to three mutations, sometimes none."""
    found = pieces
    for _ in range(dice.choice([0, 1, 1, 1, 1, 2, 3])):
        mutation = dice.choice(_OF_TENSORS)
        found = mutation(found, dice)
        found.mutations = [*pieces.mutations, *found.mutations, mutation.__name__]
    return found


def as_numpy(tensor: Any) -> Any:
    """A NumPy array that shares the memory of a tensor, if it has one."""
    return (
        tensor.numpy()
        if isinstance(tensor, Tensor) and tensor.device.type == "cpu"
        else np.array(0)
    )
