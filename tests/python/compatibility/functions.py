"""The functions of the table: what torch has for sparse tensors."""

from __future__ import annotations

import operator

import torch
from torch import Tensor
from torch.nn import functional

import tulle
from compatibility.cells import Call, Row
from compatibility.operands import POSITIVE, A, Operands, converted

Operand = Operands  # the argument of each lambda is called `s`: one side


def _value(name: str) -> Row:
    """A row of an attribute or a method without arguments that answers a question."""

    def ask(s: Operands) -> object:
        found = getattr(s.a, name)
        return found() if callable(found) else found

    return Row(name, ask, has_gradient=False, of_layout=True)


# ---- constructors, conversions, copies -----------------------------------------------------------


def _rebuilt(s: Operands) -> object:
    """A tensor made of the arrays of another one."""
    a = s.a
    if s.side == "tulle":
        return tulle.from_levels(a.format, a.shape, a.levels(), a.values())
    if a.layout == torch.sparse_coo:
        return torch.sparse_coo_tensor(a._indices(), a._values(), a.shape)
    by_rows = a.layout in (torch.sparse_csr, torch.sparse_bsr)
    pos, crd = ("crow_indices", "col_indices") if by_rows else ("ccol_indices", "row_indices")
    structure = getattr(a, pos)(), getattr(a, crd)()
    return torch.sparse_compressed_tensor(*structure, a.values(), a.shape, layout=a.layout)


def _copied(s: Operands) -> object:
    target = s.same.clone()
    return target.copy_(s.a)


def _replaced(s: Operands) -> object:
    return s.b.clone().copy_(s.a)


def _diagonal(s: Operands) -> object:
    if s.side == "dense":
        return torch.diag(s.v)
    return torch.sparse.spdiags(s.v[None], torch.tensor([0]), (6, 6), layout=s.mask.layout)


CONVERSIONS = [
    Row("constructor from arrays", _rebuilt, lambda s: s.a, has_gradient=False),
    Row(
        "torch.sparse.spdiags; Tulle: tulle.diag",
        _diagonal,
        on_tulle=lambda s: tulle.diag(s.v, format=s.mask.format),
    ),
    Row("to_dense", lambda s: s.a.to_dense(), lambda s: s.a),
    Row("to_dense(dtype)", lambda s: s.a.to_dense(torch.float32), lambda s: s.a.float()),
    Row("to_sparse", lambda s: s.a.to_sparse(), lambda s: s.a),
    Row("to_sparse(layout=)", lambda s: s.a.to_sparse(layout=torch.sparse_csr), lambda s: s.a),
    Row("to_sparse(sparse_dim)", lambda s: s.a.to_sparse(1), lambda s: s.a),
    Row("to_sparse_coo", lambda s: s.a.to_sparse_coo(), lambda s: s.a),
    Row("to_sparse_csr", lambda s: s.a.to_sparse_csr(), lambda s: s.a),
    Row("to_sparse_csc", lambda s: s.a.to_sparse_csc(), lambda s: s.a),
    Row("to_sparse_bsr", lambda s: s.a.to_sparse_bsr((2, 3)), lambda s: s.a),
    Row("to_sparse_bsc", lambda s: s.a.to_sparse_bsc((3, 2)), lambda s: s.a),
    Row("to(dtype)", lambda s: s.a.to(torch.float32)),
    Row("to(device)", lambda s: s.a.to("cpu")),
    *[
        Row(name, lambda s, name=name: getattr(s.a, name)())
        for name in ("float", "double", "half", "bfloat16")
    ],
    *[
        Row(name, lambda s, name=name: getattr(s.large, name)(), has_gradient=False)
        for name in ("int", "long", "bool")
    ],
    Row("clone", lambda s: s.a.clone()),
    Row("torch.clone", lambda s: torch.clone(s.a)),
    Row("detach", lambda s: s.a.detach(), has_gradient=False),
    Row("copy_ (same entries)", _copied, has_gradient=False),
    Row("copy_ (other entries)", _replaced, has_gradient=False),
    Row("fill_(0)", lambda s: s.a.fill_(0), has_gradient=False),
    Row("zero_", lambda s: s.a.zero_(), has_gradient=False),
    Row("torch.zero_", lambda s: torch.zero_(s.a), has_gradient=False),
    Row("torch.zeros_like", lambda s: torch.zeros_like(s.a), has_gradient=False),
    Row("torch.empty_like", lambda s: torch.empty_like(s.a).shape, has_gradient=False),
    Row("sparse_mask", lambda s: s.x.sparse_mask(s.mask), lambda s: s.x * _mask(s)),
    Row("sparse_mask of sparse", lambda s: s.b.sparse_mask(s.mask), lambda s: s.b * _mask(s)),
    Row("coalesce", lambda s: s.a.coalesce(), lambda s: s.a),
]


def _mask(s: Operands, data: Tensor = A) -> Tensor:
    """1 where a matrix has an entry in the format of the column."""
    return converted(data, s.column)[1].to(A.dtype)


# ---- accessors -----------------------------------------------------------------------------------

ACCESSORS = [
    *map(
        _value,
        [
            "shape",
            "dtype",
            "device",
            "layout",
            "ndim",
            "is_sparse",
            "is_sparse_csr",
            "is_cuda",
            "is_cpu",
            "is_meta",
            "requires_grad",
            "is_leaf",
            "size",
            "dim",
            "numel",
            "nelement",
            "element_size",
            "itemsize",
            "_nnz",
            "sparse_dim",
            "dense_dim",
            "is_coalesced",
            "is_floating_point",
            "is_complex",
            "is_signed",
            "is_pinned",
            "get_device",
            "__len__",
            "type",
        ],
    ),
    Row(
        "is_contiguous",
        lambda s: s.a.is_contiguous(),
        has_gradient=False,
        of_layout=True,
        differs="The arrays of Tulle's tensors are contiguous in all formats.",
    ),
    Row("torch.numel", lambda s: torch.numel(s.a), has_gradient=False),
    Row("torch.is_same_size", lambda s: torch.is_same_size(s.a, s.b), has_gradient=False),
    Row("torch.equal", lambda s: torch.equal(s.a, s.a.clone()), has_gradient=False),
    Row("values", lambda s: s.a.values().reshape(-1), has_gradient=False, of_layout=True),
    *[
        Row(
            name,
            lambda s, name=name: getattr(s.a, name)().long(),
            has_gradient=False,
            of_layout=True,
        )
        for name in (
            "indices",
            "_indices",
            "crow_indices",
            "col_indices",
            "ccol_indices",
            "row_indices",
        )
    ],
]

# ---- functions of one operand --------------------------------------------------------------------

_ROUNDING = ["ceil", "fix", "floor", "round", "trunc"]
_TESTS = ["isinf", "isnan", "isneginf", "isposinf", "signbit"]
_UNARY = [
    "abs",
    "absolute",
    "angle",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "conj_physical",
    "deg2rad",
    "erf",
    "erfinv",
    "expm1",
    "frac",
    "log1p",
    "nan_to_num",
    "neg",
    "negative",
    "positive",
    "rad2deg",
    "relu",
    "sgn",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
]
_IN_PLACE = [
    "abs_",
    "asin_",
    "asinh_",
    "atan_",
    "atanh_",
    "deg2rad_",
    "erf_",
    "erfinv_",
    "expm1_",
    "frac_",
    "log1p_",
    "nan_to_num_",
    "neg_",
    "rad2deg_",
    "relu_",
    "sgn_",
    "sign_",
    "sin_",
    "sinh_",
    "sqrt_",
    "tan_",
    "tanh_",
]


def _unary(name: str, operand: str = "a", *, has_gradient: bool = True) -> list[Row]:
    """The rows of a function and of the method of its name."""
    function = getattr(torch, name)
    return [
        Row(f"torch.{name}", lambda s: function(getattr(s, operand)), has_gradient=has_gradient),
        Row(name, lambda s: getattr(getattr(s, operand), name)(), has_gradient=has_gradient),
    ]


ELEMENTS = [
    *(row for name in _UNARY for row in _unary(name)),
    *(row for name in _ROUNDING for row in _unary(name, "large")),
    *(row for name in _TESTS for row in _unary(name, "special", has_gradient=False)),
    Row("-A", lambda s: -s.a),
    Row("abs(A)", lambda s: abs(s.a)),
    Row("nn.ReLU", lambda s: torch.nn.ReLU()(s.a)),
    *[
        Row(name, lambda s, name=name: getattr(s.a, name)(), has_gradient=False)
        for name in _IN_PLACE
    ],
    *[
        Row(name, lambda s, name=name: getattr(s.large, name)(), has_gradient=False)
        for name in ("ceil_", "floor_", "round_", "trunc_")
    ],
]


def _like(s: Operands) -> object:
    return s.same.detach().clone()


# ---- functions of two operands -------------------------------------------------------------------

BINARY = [
    Row("A + B", lambda s: s.a + s.b),
    Row("A + dense", lambda s: s.a + s.x),
    Row("dense + A", lambda s: s.x + s.a),
    Row("torch.add(alpha=)", lambda s: torch.add(s.a, s.b, alpha=2)),
    Row("torch.add(dense, A, alpha=)", lambda s: torch.add(s.x, s.a, alpha=2)),
    Row("A - B", lambda s: s.a - s.b),
    Row("torch.sub(alpha=)", lambda s: torch.sub(s.a, s.b, alpha=2)),
    Row("A - dense", lambda s: s.a - s.x),
    Row("dense - A", lambda s: s.x - s.a),
    Row("A * B", lambda s: s.a * s.b),
    Row("torch.mul", lambda s: torch.mul(s.a, s.same)),
    Row("A * dense", lambda s: s.a * s.x),
    Row("dense * A", lambda s: s.x * s.a),
    Row("A * row", lambda s: s.a * s.v),
    Row("A * column", lambda s: s.a * s.v[:, None]),
    Row("A * number", lambda s: s.a * 3),
    Row("number * A", lambda s: 3 * s.a),
    Row("A * scalar tensor", lambda s: s.a * torch.tensor(3.0, dtype=A.dtype)),
    Row("A / number", lambda s: s.a / 3),
    Row("A / scalar tensor", lambda s: s.a / torch.tensor(3.0, dtype=A.dtype)),
    Row("A / dense", lambda s: s.a / s.x),
    Row("torch.div(rounding_mode=)", lambda s: torch.div(s.large, 3, rounding_mode="floor")),
    Row("A // number", lambda s: s.large // 3, has_gradient=False),
    Row("torch.floor_divide", lambda s: torch.floor_divide(s.large, 3), has_gradient=False),
    Row("A ** 2", lambda s: s.a**2),
    Row("torch.pow", lambda s: torch.pow(s.a, 3)),
    Row("A.pow", lambda s: s.a.pow(2.0)),
    *[
        Row(
            f"{name}(number)",
            lambda s, name=name: getattr(s.large, name)(3),
            has_gradient=False,
        )
        for name in ("mul_", "div_", "floor_divide_", "pow_")
    ],
    Row("add_(A of the same entries)", lambda s: s.a.add_(s.same), has_gradient=False),
    Row("add_(B)", lambda s: s.a.add_(s.b), has_gradient=False),
    Row("sub_(B)", lambda s: s.a.sub_(s.b), has_gradient=False),
    Row("mul_(B)", lambda s: s.a.mul_(s.b), has_gradient=False),
    Row("mul_(dense)", lambda s: s.a.mul_(s.x), has_gradient=False),
    Row("dense.add_(A)", lambda s: s.x.add_(s.a), has_gradient=False),
    Row("dense.sub_(A)", lambda s: s.x.sub_(s.a), has_gradient=False),
    Row("dense.mul_(A)", lambda s: s.x.mul_(s.a), has_gradient=False),
    Row("dense += A", lambda s: operator.iadd(s.x, s.a), has_gradient=False),
    *[
        Row(
            f"torch.{name}(A, B, out=C)",
            lambda s, name=name: getattr(torch, name)(s.a, s.b, out=_like(s)),
            has_gradient=False,
        )
        for name in ("add", "sub", "mul")
    ],
    Row("torch.neg(A, out=C)", lambda s: torch.neg(s.a, out=_like(s)), has_gradient=False),
    Row("dense.copy_(A)", lambda s: s.x.copy_(s.a), has_gradient=False),
]

# ---- reductions ----------------------------------------------------------------------------------


def _masked(name: str, write: str, on_tulle: Call) -> Row:
    """A reduction over the stored elements, of which torch's function needs a mask."""
    function = getattr(torch.masked, name)

    def over_entries(s: Operands) -> object:
        a = s.positive
        mask = _mask(s, POSITIVE) if s.side == "dense" else s.positive_mask
        return function(a, dim=1, keepdim=True, mask=mask.bool())

    return Row(f"torch.masked.{name}; Tulle: {write}", over_entries, on_tulle=on_tulle)


REDUCTIONS = [
    Row("sum()", lambda s: s.a.sum()),
    Row("torch.sum", lambda s: torch.sum(s.a)),
    Row("sum(dim)", lambda s: s.a.sum(1)),
    Row("sum(axis=, keepdims=)", lambda s: s.a.sum(axis=1, keepdims=True)),
    Row("torch.sum(axis=)", lambda s: torch.sum(s.a, axis=1)),
    Row("sum(dims)", lambda s: s.a.sum((0, 1))),
    Row("sum(dim, keepdim)", lambda s: s.a.sum(0, keepdim=True)),
    Row("sum(dims, keepdim)", lambda s: s.a.sum((0, 1), keepdim=True)),
    Row("sum(dtype=)", lambda s: s.a.sum(dtype=torch.float32)),
    Row("torch.sparse.sum", lambda s: torch.sparse.sum(s.a), lambda s: s.a.sum()),
    Row("torch.sparse.sum(dim)", lambda s: torch.sparse.sum(s.a, 0), lambda s: s.a.sum(0)),
    Row(
        "torch.sparse.sum(dtype)",
        lambda s: torch.sparse.sum(s.a, dtype=torch.float32),
        lambda s: s.a.sum(dtype=torch.float32),
    ),
    Row("any()", lambda s: s.a.bool().any(), has_gradient=False),
    Row("any(dim)", lambda s: s.a.bool().any(1), has_gradient=False),
    Row("norm()", lambda s: s.a.norm()),
    Row("norm(p)", lambda s: s.a.norm(p=1)),
    Row("norm(p, dim)", lambda s: s.a.norm(2, dim=1)),
    Row("torch.norm", lambda s: torch.norm(s.a)),
    Row("torch.linalg.norm", lambda s: torch.linalg.norm(s.a)),
    Row("mean()", lambda s: s.a.mean()),
    Row("torch.sparse.softmax", lambda s: torch.sparse.softmax(s.a, 1), lambda s: _softmax(s, 1)),
    Row("softmax(0)", lambda s: torch.sparse.softmax(s.a, 0), lambda s: _softmax(s, 0)),
    Row("torch.softmax", lambda s: torch.softmax(s.a, 1), lambda s: _softmax(s, 1)),
    Row("A.softmax", lambda s: s.a.softmax(1), lambda s: _softmax(s, 1)),
    Row(
        "torch.sparse.log_softmax",
        lambda s: torch.sparse.log_softmax(s.a, 1),
        lambda s: _log_softmax(s, 1),
    ),
    Row("torch.log_softmax", lambda s: torch.log_softmax(s.a, 1), lambda s: _log_softmax(s, 1)),
    _masked("sum", "A.sum(1)", lambda s: s.positive.sum(1, keepdim=True)),
    *[
        _masked(
            name,
            f"A.{name}(1, stored=True)",
            lambda s, name=name: getattr(s.positive, name)(1, keepdim=True, stored=True),
        )
        for name in ("prod", "amax", "amin", "mean")
    ],
]


def _softmax(s: Operands, dim: int) -> Tensor:
    """The softmax over the entries."""
    exponentials = s.a.exp() * _mask(s)
    sums = exponentials.sum(dim, keepdim=True)
    return exponentials / torch.where(sums == 0, 1, sums)


def _log_softmax(s: Operands, dim: int) -> Tensor:
    mask = _mask(s)
    sums = (s.a.exp() * mask).sum(dim, keepdim=True)
    return (s.a - torch.where(sums == 0, 1, sums).log()) * mask


# ---- products ------------------------------------------------------------------------------------


def _spread(s: Operands, reduce: str) -> Tensor:
    """A product of the dense operands whose sums over entries are replaced by another reduction."""
    mask = (_mask(s) != 0)[:, :, None]
    products = s.a[:, :, None] * s.x[None]
    counts = mask.sum(1)
    if reduce == "mean":
        return (products * mask).sum(1) / counts.clamp(min=1)
    limit = -torch.inf if reduce == "amax" else torch.inf
    found = getattr(torch.where(mask, products, limit), reduce)(1)
    return torch.where(counts == 0, 0, found)


PRODUCTS = [
    Row("A @ dense", lambda s: s.a @ s.x),
    Row("dense @ A", lambda s: s.x @ s.a),
    Row("A @ vector", lambda s: s.a @ s.v),
    Row("vector @ A", lambda s: s.v @ s.a),
    Row("A.T @ dense", lambda s: s.a.t() @ s.x),
    Row("A @ dense.T", lambda s: s.a @ s.x.T),
    Row("mv", lambda s: s.a.mv(s.v)),
    Row("torch.mv", lambda s: torch.mv(s.a, s.v)),
    Row("mm", lambda s: s.a.mm(s.x)),
    Row("torch.mm", lambda s: torch.mm(s.a, s.x)),
    Row("torch.mm(dense, A)", lambda s: torch.mm(s.x, s.a)),
    Row("torch.matmul", lambda s: torch.matmul(s.a, s.x)),
    Row("torch.sparse.mm", lambda s: torch.sparse.mm(s.a, s.x), lambda s: s.a @ s.x),
    Row("torch.smm", lambda s: torch.smm(s.a, s.x), lambda s: s.a @ s.x),
    Row("torch.dsmm", lambda s: torch.dsmm(s.a, s.x), lambda s: s.a @ s.x),
    Row("torch.hspmm", lambda s: torch.hspmm(s.a, s.x), lambda s: s.a @ s.x),
    Row(
        "torch.sspaddmm",
        lambda s: torch.sspaddmm(s.b, s.a, s.x),
        lambda s: s.b + s.a @ s.x,
    ),
    Row("torch.addmm", lambda s: torch.addmm(s.y, s.a, s.x, beta=2, alpha=3)),
    Row("torch.addmm(dense @ A)", lambda s: torch.addmm(s.y, s.x, s.a)),
    Row("dense.addmm_", lambda s: s.y.addmm_(s.a, s.x), has_gradient=False),
    Row(
        "torch.sparse.addmm",
        lambda s: torch.sparse.addmm(s.y, s.a, s.x, beta=2, alpha=3),
        lambda s: torch.addmm(s.y, s.a, s.x, beta=2, alpha=3),
    ),
    Row("torch.addmv", lambda s: torch.addmv(s.v, s.a, s.x[0])),
    Row("torch.bmm", lambda s: torch.bmm(s.batch, s.dense_batch)),
    Row("batch @ dense", lambda s: s.batch @ s.dense_batch),
    Row(
        "torch.baddbmm",
        lambda s: torch.baddbmm(torch.ones(2, 6, 6, dtype=A.dtype), s.batch, s.dense_batch),
    ),
    Row("functional.linear", lambda s: functional.linear(s.x, s.a)),
    Row("A @ B", lambda s: s.a @ s.b),
    Row("torch.mm(A, B)", lambda s: torch.mm(s.a, s.b)),
    Row("torch.sparse.mm(A, B)", lambda s: torch.sparse.mm(s.a, s.b), lambda s: s.a @ s.b),
    Row("A @ A.T", lambda s: s.a @ s.a.t()),
    Row("torch.addmm(C, A, B)", lambda s: torch.addmm(s.same, s.a, s.b), crashes=("CSC",)),
    Row(
        "torch.sparse.sampled_addmm",
        lambda s: torch.sparse.sampled_addmm(s.a, s.x, s.y, beta=2, alpha=3),
        lambda s: 2 * s.a + 3 * (s.x @ s.y) * _mask(s),
    ),
    *[
        Row(
            f'torch.sparse.mm(A, dense, "{reduce}")',
            lambda s, reduce=reduce: torch.sparse.mm(s.a, s.x, reduce),
            lambda s, reduce=reduce: s.a @ s.x if reduce == "sum" else _spread(s, reduce),
        )
        for reduce in ("sum", "mean", "amax", "amin")
    ],
    Row(
        "torch.mm(out=)",
        lambda s: torch.mm(s.a, s.x, out=torch.empty(6, 6, dtype=A.dtype)),
        has_gradient=False,
    ),
    Row("torch.mm(A, B, out=C)", lambda s: torch.mm(s.a, s.b, out=_like(s)), has_gradient=False),
    Row(
        "addmm_(A, B)",
        lambda s: _like(s).addmm_(s.a, s.b),
        has_gradient=False,
        crashes=("CSC",),
    ),
    Row("torch.einsum", lambda s: torch.einsum("ij,jk->ik", s.a, s.x)),
]

# ---- structure -----------------------------------------------------------------------------------

_INDEX = torch.tensor([4, 0, 0, 2])

STRUCTURE = [
    Row("torch.cat", lambda s: torch.cat([s.a, s.b])),
    Row("torch.cat(dim=1)", lambda s: torch.cat([s.a, s.b], dim=1)),
    Row("torch.cat(axis=)", lambda s: torch.cat([s.a, s.b], axis=1)),
    Row("torch.hstack", lambda s: torch.hstack([s.a, s.b])),
    Row("torch.vstack", lambda s: torch.vstack([s.a, s.b])),
    Row("torch.dstack", lambda s: torch.dstack([s.a, s.b])),
    Row("torch.stack", lambda s: torch.stack([s.a, s.b])),
    Row("torch.stack(dim=1)", lambda s: torch.stack([s.a, s.b], 1)),
    Row("t", lambda s: s.a.t()),
    Row("T", lambda s: s.a.T),
    Row("mT", lambda s: s.a.mT),
    Row("transpose", lambda s: s.a.transpose(0, 1)),
    Row("torch.transpose", lambda s: torch.transpose(s.a, 0, 1)),
    Row("t_", lambda s: _like(s).t_(), has_gradient=False),
    Row("transpose_", lambda s: _like(s).transpose_(0, 1), has_gradient=False),
    Row("permute", lambda s: s.a.permute(1, 0)),
    Row("torch.permute", lambda s: torch.permute(s.a, (1, 0))),
    Row("permute of a batch", lambda s: s.batch.permute(0, 2, 1)),
    Row("unsqueeze(0)", lambda s: s.a.unsqueeze(0)),
    Row("unsqueeze(-1)", lambda s: s.a.unsqueeze(-1)),
    Row("squeeze", lambda s: s.a.unsqueeze(0).squeeze(0)),
    Row("narrow_copy", lambda s: s.a.narrow_copy(1, 2, 3)),
    Row("torch.narrow_copy", lambda s: torch.narrow_copy(s.a, 0, 1, 4)),
    Row("narrow", lambda s: s.a.narrow(0, 1, 4)),
    Row("index_select", lambda s: s.a.index_select(0, _INDEX)),
    Row("torch.index_select", lambda s: torch.index_select(s.a, 1, _INDEX)),
    Row("select", lambda s: s.a.select(0, 1)),
    Row("select of a column", lambda s: s.a.select(1, 1)),
    Row("torch.select_copy", lambda s: torch.select_copy(s.a, 0, 1)),
    Row("A[1]", lambda s: s.a[1]),
    Row("A[1, 2]", lambda s: s.a[1, 2]),
    Row("batch[0]", lambda s: s.batch[0]),
    Row("expand", lambda s: s.a.expand(2, 6, 6)),
    Row("torch.broadcast_to", lambda s: torch.broadcast_to(s.a, (2, 6, 6))),
    Row("unbind", lambda s: s.a.unbind(0)),
]

GROUPS: dict[str, list[Row]] = {
    "Constructors, conversions, copies": CONVERSIONS,
    "Accessors": ACCESSORS,
    "Functions of one operand": ELEMENTS,
    "Functions of two operands": BINARY,
    "Reductions and softmax": REDUCTIONS,
    "Products": PRODUCTS,
    "Structure": STRUCTURE,
}

# Functions of torch for sparse tensors that Tulle does not have, by their names.
LEFT_OUT = {
    "torch.triangular_solve torch.sparse.spsolve": "Tulle has no solvers.",
    "torch.svd_lowrank torch.pca_lowrank torch.lobpcg": "Tulle has no decompositions.",
    "fill_ normal_": "they set only the stored values of CSR tensors, although the absent elements "
    "are 0. Write `A.values().fill_(2)`. `A.fill_(0)` works.",
    "resize_ resize_as_sparse_ sparse_resize_ sparse_resize_and_clear_": "make another tensor. "
    "`A.copy_(B)` takes over the entries of a tensor of the same shape.",
    "view_as_real view_as_complex": "Tulle has no complex numbers.",
}
