"""PyTorch's functions that consist of slices, joins and reshapes of sparse tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tulle.restructuring.table import restructure
from tulle.support.arguments import dimension_of
from tulle.support.errors import Unsupported, UserError
from tulle.tensors.sparse_tensor import SparseTensor


def pad(input: Any, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Any:
    """torch.nn.functional.pad with zeros: further coordinates without entries, before and after
    those of the last dimensions. Negative numbers remove coordinates."""
    widths = [int(width) for width in pad]
    if mode != "constant" or value not in (None, 0):
        raise Unsupported(
            "pad: a sparse tensor is padded with zeros only; convert it with to_dense() first."
        )
    if len(widths) % 2 or len(widths) > 2 * input.ndim:
        raise UserError(
            f"pad: expected two widths for each of at most {input.ndim} dimensions, but found "
            f"{widths}."
        )
    result = input
    for back in range(len(widths) // 2):
        before, after = widths[2 * back : 2 * back + 2]
        result = _padded(result, input.ndim - 1 - back, before, after)
    return result


def _padded(input: Any, dim: int, before: int, after: int) -> Any:
    size = input.shape[dim]
    first, last = max(0, -before), size - max(0, -after)
    if first > last or size + before + after < 0:
        raise UserError(
            f"pad: dimension {dim} of size {size} cannot lose {max(0, -before)} + "
            f"{max(0, -after)} coordinates."
        )
    kept = input if (first, last) == (0, size) else input.narrow(dim, first, last - first)
    pieces = [_without_entries(kept, dim, before)] if before > 0 else []
    pieces.append(kept)
    if after > 0:
        pieces.append(_without_entries(kept, dim, after))
    return restructure("cat", pieces, dim) if len(pieces) > 1 else kept


def _without_entries(like: Any, dim: int, size: int) -> Any:
    return like.new_zeros([size if d == dim else n for d, n in enumerate(like.shape)])


def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """torch.diff: the differences of neighbours along a dimension, n times."""
    at = dimension_of("diff", dim, input.ndim)
    pieces = [piece for piece in (prepend, input, append) if piece is not None]
    result = restructure("cat", pieces, at) if len(pieces) > 1 else input
    for _ in range(n):
        rest = max(result.shape[at] - 1, 0)
        first = result.narrow(at, 0, rest)
        second = result.narrow(at, result.shape[at] - rest, rest)
        result = second ^ first if result.dtype == torch.bool else second - first
    return result


def repeat_interleave(
    input: Any, repeats: Any, dim: int | None = None, *, output_size: int | None = None
) -> Any:
    """Each coordinate of a dimension several times in a row; without `dim`, each element of the
    flattened tensor."""
    if dim is None:
        return repeat_interleave(input.flatten(), repeats, 0)
    at = dimension_of("repeat_interleave", dim, input.ndim)
    if isinstance(repeats, Tensor) and repeats.numel() == 1:
        repeats = int(repeats)
    if not isinstance(repeats, int):
        counts = torch.as_tensor(repeats, device=input.device)
        if counts.shape != (input.shape[at],):
            raise UserError(
                f"repeat_interleave: expected a number for each of {input.shape[at]} coordinates, "
                f"but found the shape {list(counts.shape)}."
            )
        return input.index_select(at, torch.repeat_interleave(counts))
    if repeats < 0:
        raise UserError(f"repeat_interleave: the number of repeats is negative: {repeats}.")
    spread = input.unsqueeze(at + 1)
    sizes = [repeats if d == at + 1 else -1 for d in range(spread.ndim)]
    return spread.expand(sizes).flatten(at, at + 1)


def column_stack(tensors: Sequence[Any]) -> Any:
    """Matrices side by side; a vector is a column."""
    columns = [one.unsqueeze(-1) if one.ndim == 1 else one for one in tensors]
    return restructure("cat", columns, 1)


def at_least(rank: int) -> Any:
    """torch.atleast_1d and its kind: further dimensions of size 1."""

    def one(tensor: Any) -> Any:
        while tensor.ndim < rank:
            # A vector becomes a row, a matrix one of matrices with a last dimension of size 1.
            tensor = tensor.unsqueeze(0 if tensor.ndim < 2 else -1)
        return tensor

    def handle(*tensors: Any) -> Any:
        given = tensors[0] if len(tensors) == 1 else tensors
        return tuple(map(one, given)) if isinstance(given, tuple | list) else one(given)

    return handle


def sum_to_size(self: Any, *size: Any) -> Any:
    """The tensor summed over the dimensions that broadcasting a tensor of this size repeats."""
    wanted = list(size[0]) if len(size) == 1 and not isinstance(size[0], int) else list(size)
    further = self.ndim - len(wanted)
    own = self.shape[max(further, 0) :]
    if further < 0 or any(n not in (1, m) for n, m in zip(wanted, own, strict=True)):
        raise UserError(
            f"sum_to_size: a tensor of the size {wanted} does not expand to {list(self.shape)}."
        )
    summed = [d + further for d, n in enumerate(wanted) if n != own[d]]
    result = self.sum(tuple(summed), keepdim=True) if summed else self
    return result.sum(tuple(range(further))) if further else result


def _split_evenly(name: str, input: Any, given: Sequence[Any], dim: int) -> Any:
    """Pieces of one size, or between bounds; one of the arguments that torch names is given."""
    pieces = next((one for one in given if one is not None), None)
    if input.ndim <= dim:
        raise UserError(f"{name}: expected a tensor of rank {dim + 1}, but found {input.ndim}.")
    if isinstance(pieces, int) and (pieces < 1 or input.shape[dim] % pieces):
        raise UserError(
            f"{name}: dimension {dim} of size {input.shape[dim]} does not split into {pieces} "
            "equal pieces."
        )
    return input.tensor_split(pieces, dim)


def hsplit(
    input: Any, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
) -> Any:
    """torch.hsplit: along dimension 1, or 0 of a vector."""
    return _split_evenly(
        "hsplit", input, (indices_or_sections, indices, sections), 0 if input.ndim == 1 else 1
    )


def vsplit(
    input: Any, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
) -> Any:
    """torch.vsplit: along dimension 0."""
    if input.ndim < 2:
        raise UserError(f"vsplit: expected a matrix or more dimensions, but found {input.ndim}.")
    return _split_evenly("vsplit", input, (indices_or_sections, indices, sections), 0)


def dsplit(
    input: Any, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
) -> Any:
    """torch.dsplit: along dimension 2."""
    return _split_evenly("dsplit", input, (indices_or_sections, indices, sections), 2)


def diagflat(input: SparseTensor, offset: int = 0) -> Any:
    """The matrix that has all elements on a diagonal."""
    return input.flatten().diag(offset)
