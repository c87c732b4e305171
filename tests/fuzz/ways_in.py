"""The ways by which tensors reach Tulle from outside. Each takes pieces, which may be anything, and
returns sparse tensors or raises."""

from __future__ import annotations

import io
import json
import pickle
import random
from collections.abc import Callable
from typing import Any

import scipy.sparse
import torch
from mutations import Pieces, as_numpy
from torch import Tensor
from torch.utils import _pytree as pytree

import tulle
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import restored

MOST_ROWS = 10**6


class Refused(Exception):
    """PyTorch, SciPy or Python refused the pieces before Tulle got them."""


def _outside(make: Callable[[], Any]) -> Any:
    """What other software makes of the pieces."""
    try:
        return make()
    except Exception as error:
        raise Refused from error


class Crafted:
    """Pickles as a call of `restored` with these arguments."""

    def __init__(self, pieces: Pieces) -> None:
        one = pieces
        self.arguments = (one.format, one.numbers, one.arrays, one.values, one.index_dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, self.arguments


def from_levels(pieces: Pieces, dice: random.Random) -> tulle.SparseTensor:
    known = tulle.Format(pieces.format, len(pieces.numbers))
    arrays = iter(pieces.arrays)
    missing = torch.zeros(0, dtype=torch.int64)
    levels = [{name: next(arrays, missing) for name in level.arrays} for level in known.levels]
    if dice.random() < 0.1 and levels:
        levels.pop(dice.randrange(len(levels)))
    copy = dice.choice([None, None, True, False])
    return tulle.from_levels(pieces.format, pieces.numbers, levels, pieces.values, copy=copy)


def unpickled(pieces: Pieces, dice: random.Random) -> tulle.SparseTensor:
    saved = _outside(lambda: pickle.dumps(Crafted(pieces)))
    return pickle.loads(saved)


def _saved(content: Any, is_zip: bool) -> bytes:
    file = io.BytesIO()
    torch.save(content, file, _use_new_zipfile_serialization=is_zip)
    return file.getvalue()


def loaded(pieces: Pieces, dice: random.Random) -> tulle.SparseTensor:
    saved = _outside(lambda: _saved(Crafted(pieces), dice.random() < 0.8))
    return torch.load(io.BytesIO(saved), weights_only=True)


def loaded_bytes(pieces: Pieces, dice: random.Random) -> tulle.SparseTensor:
    """A file with wrong bytes."""
    saved = bytearray(_outside(lambda: _saved(Crafted(pieces), True)))
    for _ in range(dice.choice([1, 1, 2, 8])):
        saved[dice.randrange(len(saved))] = dice.getrandbits(8)

    def load() -> Any:
        try:
            return torch.load(io.BytesIO(bytes(saved)), weights_only=True)
        except (tulle.UserError, tulle.Unsupported):
            raise
        except Exception as error:  # PyTorch does not understand the file
            raise Refused from error

    found = load()
    if not isinstance(found, tulle.SparseTensor):
        raise Refused
    return found


def reassembled(pieces: Pieces, dice: random.Random) -> tulle.SparseTensor:
    """A tree whose leaves and context were replaced."""
    _, spec = pytree.tree_flatten(tulle.tensor(torch.eye(2)))
    context = (pieces.format, pieces.numbers, pieces.index_dtype)
    leaves = [*pieces.arrays, pieces.values]

    def changed() -> pytree.TreeSpec:
        text = json.loads(pytree.treespec_dumps(spec))
        name = str(pieces.index_dtype).removeprefix("torch.")
        text[1]["context"] = [pieces.format, list(pieces.numbers), name]
        text[1]["children_spec"] = text[1]["children_spec"][:1] * len(leaves)
        return pytree.treespec_loads(json.dumps(text))

    if dice.random() < 0.5:
        return pytree.tree_unflatten(leaves, changed())
    return pytree.SUPPORTED_NODES[tulle.SparseTensor].unflatten_fn(leaves, context)


def constructed(pieces: Pieces, dice: random.Random) -> tulle.SparseTensor:
    """Objects made by their constructors, which check nothing until the first use."""
    format = tulle.Format(pieces.format, len(pieces.numbers))
    numbers = _outside(lambda: tuple(map(int, pieces.numbers)))
    make = lambda: Pattern(format, numbers, tuple(pieces.arrays), pieces.index_dtype)  # noqa: E731
    pattern = make() if all(isinstance(one, Tensor) for one in pieces.arrays) else _outside(make)
    if not isinstance(pieces.values, Tensor):
        raise Refused
    return tulle.SparseTensor(pattern, pieces.values)


def with_values(pieces: Pieces, dice: random.Random) -> tulle.SparseTensor:
    tensor = tulle.tensor(torch.eye(3, dtype=torch.float64), format="csr")
    return tensor.with_values(pieces.values)


def from_torch(pieces: Pieces, dice: random.Random) -> tulle.SparseTensor:
    makers = [torch.sparse_csr_tensor, torch.sparse_csc_tensor]

    def make() -> Tensor:
        arrays, values, shape = pieces.arrays, pieces.values, tuple(pieces.numbers)
        if len(arrays) == 2 and dice.random() < 0.7:
            maker = dice.choice(makers)
            made = maker(arrays[0], arrays[1], values, shape, check_invariants=False)
            # PyTorch stores anything, but returns no indices that are sparse themselves.
            by_rows = maker is torch.sparse_csr_tensor
            pos = made.crow_indices() if by_rows else made.ccol_indices()
            crd = made.col_indices() if by_rows else made.row_indices()
            for array in (pos, crd, made.values()):
                array.detach()
            return made.detach()
        indices = torch.stack([one.to(torch.int64) for one in arrays[1:]])
        return torch.sparse_coo_tensor(indices, values, shape, check_invariants=False)

    return tulle.tensor(_outside(make), copy=dice.choice([None, None, True, False]))


def from_scipy(pieces: Pieces, dice: random.Random) -> tulle.SparseTensor:
    def make() -> Any:
        arrays, values = [as_numpy(one) for one in pieces.arrays], as_numpy(pieces.values)
        kind = dice.choice(["csr", "csc", "coo", "dia"])
        shape = tuple(map(int, pieces.numbers))
        if kind == "coo":
            return scipy.sparse.coo_array((values, tuple(arrays[1:])), shape=shape)
        if kind == "dia":
            if shape[0] > MOST_ROWS:  # a diagonal has a value for each row
                raise Refused
            data = values.reshape(len(arrays[-1]), -1)
            return scipy.sparse.dia_array((data, arrays[-1]), shape=shape)
        if len(shape) != 2:
            raise Refused
        whole = getattr(scipy.sparse, f"{kind}_array")((3, 3))
        whole.indptr, whole.indices, whole.data = arrays[0], arrays[1], values
        whole._shape = shape
        return whole

    return tulle.tensor(_outside(make), copy=dice.choice([None, None, True, False]))


WAYS: dict[str, Callable[[Pieces, random.Random], tulle.SparseTensor]] = {
    one.__name__: one
    for one in (
        *(from_levels, unpickled, loaded, loaded_bytes, reassembled, constructed, with_values),
        *(from_torch, from_scipy),
    )
}
