"""Makes sparse tensors from what others store: torch, SciPy, numpy, raw levels. Copies nothing
where the storage agrees, and checks all structure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np
import torch
from torch import Tensor

from tulle import conversions, dtypes
from tulle.arguments import shape_of
from tulle.errors import Unsupported, UserError
from tulle.formats import Format
from tulle.operands import is_scipy
from tulle.pattern import Pattern, living_pattern
from tulle.sparse_tensor import SparseTensor


@overload
def tensor(
    data: Any, format: Literal["dense"], index_dtype: torch.dtype | None = None
) -> Tensor: ...
@overload
def tensor(
    data: Any, format: str | Format | None = None, index_dtype: torch.dtype | None = None
) -> SparseTensor: ...
def tensor(
    data: Any, format: str | Format | None = None, index_dtype: torch.dtype | None = None
) -> SparseTensor | Tensor:
    """A sparse tensor of `data`: a tensor of torch's (dense, CSR, CSC, COO, BSR, BSC), a sparse
    matrix of SciPy's, an array of numpy's or nested lists.

    Without `format` it is stored as it came, without a copy where Tulle can; what was dense becomes
    CSR (rank 2) or CSF. Of dense data the entries that are not zero are stored. "dense" gives an
    ordinary tensor. `index_dtype` is int32 or int64; without it, it stays as it came.
    """
    if index_dtype is not None and index_dtype not in dtypes.INDEX_DTYPES:
        raise UserError(
            f"index_dtype: expected torch.int32 or torch.int64, but found {index_dtype}."
        )
    if isinstance(data, SparseTensor):
        source = data
    elif isinstance(data, Tensor) and data.layout != torch.strided:
        source = _from_torch_sparse(data)
    elif is_scipy(data):
        source = _from_scipy(data)
    else:
        dense = data if isinstance(data, Tensor) else torch.as_tensor(data)
        if format is not None and Format(format).is_dense:
            return dense
        source = _from_dense(dense)
        if format is None and source.ndim != 1:
            format = "csr" if source.ndim == 2 else "csf"
    result = source.to(format=format)
    if index_dtype is not None and isinstance(result, SparseTensor):
        result = conversions.with_index_dtype(result, index_dtype)
    return result


def from_levels(
    format: str | Format,
    shape: Sequence[int],
    levels: Sequence[Mapping[str, Any]],
    values: Any,
) -> SparseTensor:
    """A sparse tensor of raw storage: for each level a dict with the arrays that it stores, `pos`
    and `crd` (none for dense levels), and the values in storage order. Nothing is copied."""
    known = Format(format)
    sizes = shape_of("from_levels", shape)
    known = known.of_rank(len(sizes))
    if known.is_dense:
        raise UserError("from_levels: a dense tensor has no structure; use an ordinary tensor.")
    if len(levels) != len(known.levels):
        raise UserError(
            f"from_levels: the format {known.long_form} has {len(known.levels)} levels, but "
            f"{len(levels)} were given; give an empty dict for one that stores nothing."
        )
    arrays: list[Tensor] = []
    for at, (level, given) in enumerate(zip(known.levels, levels, strict=True)):
        stored = [name for name, has in (("pos", level.pos), ("crd", level.crd)) if has]
        if sorted(given) != sorted(stored):
            raise UserError(
                f"from_levels: level {at} of {known.long_form} stores "
                f"{' and '.join(stored) or 'nothing'}, but {sorted(given) or 'nothing'} was given."
            )
        arrays += [_as_vector(f"{name} of level {at}", given[name]) for name in stored]
    return checked("from_levels", known, sizes, arrays, _as_vector("values", values))


def checked(
    name: str, format: Format, shape: tuple[int, ...], arrays: Sequence[Tensor], values: Tensor
) -> SparseTensor:
    """The tensor, if its structure is valid; UserError otherwise."""
    index_dtype = _common_index_dtype(arrays)
    unified = tuple(array.to(index_dtype) for array in arrays)
    pattern = Pattern(format, shape, unified, index_dtype)
    pattern.validate(name, values)
    return SparseTensor(pattern, values)


def restored(
    format: str, shape: tuple[int, ...], arrays: tuple[Tensor, ...], values: Tensor
) -> SparseTensor:
    """What was pickled; structure from a file is not trusted."""
    return checked("the pickled tensor", Format(format, len(shape)), shape, arrays, values)


def reassembled(
    format: str,
    shape: tuple[int, ...],
    index_dtype: torch.dtype,
    arrays: tuple[Any, ...],
    values: Any,
) -> SparseTensor:
    """The tensor of parts that were taken from one. Structure that is not the very same is checked,
    if it is there: trees are also put together around other things than tensors."""
    known = Format(format, len(shape))
    pattern = living_pattern(known, shape, arrays)
    if pattern is None:
        pattern = Pattern(known, shape, arrays, index_dtype)
        if all(type(part) is Tensor and part.device.type == "cpu" for part in (*arrays, values)):
            pattern.validate("the reassembled tensor", values)
    return SparseTensor(pattern, values)


def _common_index_dtype(arrays: Sequence[Tensor]) -> torch.dtype:
    """Positions and coordinates share one type: the widest that is there."""
    for array in arrays:
        if array.dtype not in dtypes.INDEX_DTYPES:
            raise UserError(f"Positions and coordinates are int32 or int64, not {array.dtype}.")
    is_narrow = bool(arrays) and all(array.dtype == torch.int32 for array in arrays)
    return torch.int32 if is_narrow else torch.int64


def _as_vector(name: str, data: Any) -> Tensor:
    vector = data if isinstance(data, Tensor) else torch.as_tensor(data)
    if vector.layout != torch.strided or vector.ndim != 1:
        raise UserError(f"{name}: expected a vector, but found the shape {list(vector.shape)}.")
    return (
        vector.detach().contiguous() if vector.dtype in dtypes.INDEX_DTYPES else vector.contiguous()
    )


def _refuse_gradient(data: Tensor) -> None:
    """The way from a tensor of another layout to our values is not differentiable yet."""
    if data.requires_grad and torch.is_grad_enabled():
        raise Unsupported(
            "The tensor requires a gradient, which this version cannot pass on. Import it under "
            "torch.no_grad(), or import its detach()."
        )


# ---- dense -------------------------------------------------------------------------------------


def _from_dense(dense: Tensor) -> SparseTensor:
    """The entries that are not zero, as sorted COO."""
    _refuse_gradient(dense)
    _refuse_device(dense)
    if dense.ndim == 0:
        raise UserError("A scalar cannot be stored sparsely; use it as it is.")
    dtypes.name_of(dense.dtype)
    dense = dense.detach()
    shape = tuple(dense.shape)
    found = torch.nonzero(dense, as_tuple=True)
    index_dtype = dtypes.fitting_index_dtype(shape, found[0].numel())
    pos = torch.tensor([0, found[0].numel()], dtype=index_dtype)
    arrays = (pos, *(crd.to(index_dtype) for crd in found))
    return SparseTensor(
        Pattern(Format("coo", len(shape)), shape, arrays, index_dtype), dense[found]
    )


def _refuse_device(data: Tensor) -> None:
    if data.device.type != "cpu":
        raise Unsupported(
            f"The tensor is on the device '{data.device}'; this version computes on the CPU. "
            "Move it there with .cpu()."
        )


# ---- torch.sparse ------------------------------------------------------------------------------

# Of each compressed layout: the names of its structure methods, whether it goes by rows, blocks.
_COMPRESSED: dict[torch.layout, tuple[str, str, bool, bool]] = {
    torch.sparse_csr: ("crow_indices", "col_indices", True, False),
    torch.sparse_csc: ("ccol_indices", "row_indices", False, False),
    torch.sparse_bsr: ("crow_indices", "col_indices", True, True),
    torch.sparse_bsc: ("ccol_indices", "row_indices", False, True),
}


def _from_torch_sparse(data: Tensor) -> SparseTensor:
    _refuse_gradient(data)
    _refuse_device(data)
    if data.layout == torch.sparse_coo:
        return _from_torch_coo(data.detach())
    if data.layout in _COMPRESSED:
        return _from_torch_compressed(data.detach())
    raise Unsupported(f"Tensors of the layout {data.layout} are not supported; use a dense one.")


def _from_torch_coo(data: Tensor) -> SparseTensor:
    indices, values = data._indices().detach(), data._values().detach()
    pos = torch.tensor([0, indices.shape[1]], dtype=torch.int64)
    dense_sizes = tuple(data.shape[data.sparse_dim() :])
    if data.sparse_dim() == 0:
        raise Unsupported("A sparse tensor without sparse dimensions is not supported.")
    return _from_coordinates(tuple(data.shape), [pos, *indices], values, len(dense_sizes))


def _from_torch_compressed(data: Tensor) -> SparseTensor:
    pos_of, crd_of, by_rows, has_blocks = _COMPRESSED[data.layout]
    pos, crd = getattr(data, pos_of)().detach(), getattr(data, crd_of)().detach()
    values = data.values().detach()
    batches = pos.ndim - 1
    block = tuple(values.shape[batches + 1 : batches + 3]) if has_blocks else None
    dense = values.ndim - batches - (3 if has_blocks else 1)
    format = _compressed_format(batches, by_rows, block, dense)
    arrays = [_joined_positions(pos) if batches else pos, crd.reshape(-1)]
    name = str(data.layout).removeprefix("torch.")
    return checked(f"the {name} tensor", format, tuple(data.shape), arrays, values.reshape(-1))


def _compressed_format(
    batches: int, by_rows: bool, block: tuple[int, ...] | None, dense: int
) -> Format:
    """Batches, then compressed rows or columns, then the block, then dense dimensions."""
    above = [f"b{n}" for n in range(batches)]
    below = [f"d{n}" for n in range(dense)]
    outer, inner = ("i", "j") if by_rows else ("j", "i")
    middle = [f"{outer}: dense", f"{inner}: compressed"]
    if block is not None:
        size = {"i": block[0], "j": block[1]}
        middle = [
            f"{outer}/{size[outer]}: dense",
            f"{inner}/{size[inner]}: compressed",
            f"i%{size['i']}: dense",
            f"j%{size['j']}: dense",
        ]
    levels = [*(f"{b}: dense" for b in above), *middle, *(f"{d}: dense" for d in below)]
    return Format(f"({','.join([*above, 'i', 'j', *below])}) -> ({', '.join(levels)})")


def _joined_positions(pos: Tensor) -> Tensor:
    """torch counts positions anew in each batch; here they run on. A first position that is not 0
    and a last one that is not the number of entries stay wrong, and are refused later."""
    lists = pos.reshape(-1, pos.shape[-1])
    starts = torch.cumsum(lists[:, -1], 0, dtype=pos.dtype) - lists[:, -1]
    if not bool((lists[:, 0] == 0).all()):
        raise UserError("Positions start at 0 in each batch, but a batch has another first one.")
    running = lists + starts[:, None]
    return torch.cat([running[:, :-1].reshape(-1), running[-1:, -1]])


def _from_coordinates(
    shape: tuple[int, ...], arrays: list[Tensor], values: Tensor, dense: int = 0
) -> SparseTensor:
    """COO from positions and the coordinates of each sparse dimension; sorted, and duplicates
    summed, where that has not been done."""
    names = [f"i{n}" for n in range(len(shape))]
    sparse = names[: len(shape) - dense]
    below = "".join(f", {name}: dense" for name in names[len(sparse) :])

    def format(first: str, others: str, last: str) -> Format:
        properties = [first, *([others] * (len(sparse) - 2)), last][-len(sparse) :]
        kinds = ["compressed"] + ["singleton"] * (len(sparse) - 1)
        levels = [
            f"{n}: {kind} {how}" for n, kind, how in zip(sparse, kinds, properties, strict=True)
        ]
        return Format(f"({','.join(names)}) -> ({', '.join(levels)}{below})")

    sorted_format = format("nonunique", "nonunique", "unique")
    flat = values.reshape(-1)
    try:
        return checked("the COO tensor", sorted_format, shape, arrays, flat)
    except UserError:
        loose = format(*["nonunique unordered"] * 3)
        unsorted = checked("the COO tensor", loose, shape, arrays, flat)
    result: SparseTensor = unsorted.to(format=sorted_format)
    return result


# ---- SciPy -------------------------------------------------------------------------------------


def _from_scipy(data: Any) -> SparseTensor:
    if data.format in ("csr", "csc", "bsr"):
        return _from_scipy_compressed(data)
    if data.format == "coo":
        coordinates = data.coords if hasattr(data, "coords") else (data.row, data.col)
        crds = [_from_numpy(crd) for crd in coordinates]
        pos = torch.tensor([0, crds[0].numel()], dtype=crds[0].dtype)
        return _from_coordinates(tuple(data.shape), [pos, *crds], _from_numpy(data.data))
    return _from_scipy_compressed(data.tocsr())


def _from_scipy_compressed(data: Any) -> SparseTensor:
    block = tuple(data.blocksize) if data.format == "bsr" else None
    format = _compressed_format(0, data.format != "csc", block, 0)
    arrays = [_from_numpy(data.indptr), _from_numpy(data.indices)]
    values = _from_numpy(data.data).reshape(-1)
    shape, name = tuple(data.shape), f"the SciPy {data.format} matrix"
    try:
        return checked(name, format, shape, arrays, values)
    except UserError:
        text = format.long_form.replace("compressed", "compressed nonunique unordered")
        unsorted = checked(name, Format(text), shape, arrays, values)
    result: SparseTensor = unsorted.to(format=format)
    return result


def _from_numpy(array: Any) -> Tensor:
    """The same memory, unless it is not laid out or writable as torch wants it."""
    array = np.ascontiguousarray(array)
    try:
        return torch.from_numpy(array if array.flags.writeable else array.copy())
    except TypeError:
        raise Unsupported(
            f"Arrays of numpy's type {array.dtype} are not supported; convert them first."
        ) from None
