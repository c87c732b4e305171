"""What users of torch's tensors try first, for the table: each line runs on dense tensors, too."""

from __future__ import annotations

import copy
import io
import operator
import pickle
from typing import Any

import torch
from torch.nn import functional

from compatibility.cells import Call, Row
from compatibility.operands import A, Operands

_INDEX = torch.tensor([4, 0, 0, 2])
_ROWS = torch.tensor([True, False, True, True, False, True])
_LARGE = A > 0.3


def _rows(has_gradient: bool, **calls: Call) -> list[Row]:
    return [Row(name, call, has_gradient=has_gradient) for name, call in calls.items()]


def _saved(tensor: Any) -> Any:
    file = io.BytesIO()
    torch.save(tensor, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


def _augmented(name: str, other: str | int) -> Call:
    def change(s: Operands) -> Any:
        operand = getattr(s, other) if isinstance(other, str) else other
        return getattr(operator, name)(s.a, operand)

    return change


# Rows whose results have gradients.
SMOOTH = {
    "A[0]": lambda s: s.a[0],
    "A[-1]": lambda s: s.a[-1],
    "A[1, 2]": lambda s: s.a[1, 2],
    "A[1:5]": lambda s: s.a[1:5],
    "A[:, 2]": lambda s: s.a[:, 2],
    "A[1:4, 2:5]": lambda s: s.a[1:4, 2:5],
    "A[::2]": lambda s: s.a[::2],
    "A[index]": lambda s: s.a[_INDEX],
    "A[:, index]": lambda s: s.a[:, _INDEX],
    "A[[0, 2]]": lambda s: s.a[[0, 2]],
    "A[mask of rows]": lambda s: s.a[_ROWS],
    "A[mask]": lambda s: s.a[_LARGE],
    "A[None]": lambda s: s.a[None],
    "A[..., 1]": lambda s: s.a[..., 1],
    "list(A)": lambda s: list(s.a),
    "A + 1": lambda s: s.a + 1,
    "1 - A": lambda s: 1 - s.a,
    "A - B": lambda s: s.a - s.b,
    "A * B": lambda s: s.a * s.b,
    "A / 2": lambda s: s.a / 2,
    "A / dense": lambda s: s.a / s.x,
    "A ** 2": lambda s: s.a**2,
    "2 ** A": lambda s: 2**s.a,
    "A % 0.25": lambda s: s.a % 0.25,
    "A.abs()": lambda s: s.a.abs(),
    "A.exp()": lambda s: s.a.exp(),
    "A.abs().sqrt()": lambda s: s.positive.abs().sqrt(),
    "A.log1p()": lambda s: s.a.log1p(),
    "A.sigmoid()": lambda s: s.a.sigmoid(),
    "A.tanh()": lambda s: s.a.tanh(),
    "A.relu()": lambda s: s.a.relu(),
    "A.cos()": lambda s: s.a.cos(),
    "A.clamp(min=0)": lambda s: s.a.clamp(min=0),
    "A.clamp(-0.5, 0.5)": lambda s: s.a.clamp(-0.5, 0.5),
    "A.maximum(B)": lambda s: torch.maximum(s.a, s.b),
    "torch.where": lambda s: torch.where(s.mask > 0.1, s.a, s.b),
    "A.masked_fill": lambda s: s.a.masked_fill(_LARGE, 0),
    "A.masked_select": lambda s: s.a.masked_select(_LARGE),
    "functional.gelu": lambda s: functional.gelu(s.a),
    "functional.leaky_relu": lambda s: functional.leaky_relu(s.a),
    "functional.dropout": lambda s: functional.dropout(s.a, 0.5, training=False),
    "functional.normalize": lambda s: functional.normalize(s.a, dim=1),
    "A.sum(0)": lambda s: s.a.sum(0),
    "A.sum(dim=1, keepdim=True)": lambda s: s.a.sum(dim=1, keepdim=True),
    "A.mean()": lambda s: s.a.mean(),
    "A.mean(1)": lambda s: s.a.mean(1),
    "A.max()": lambda s: s.a.max(),
    "A.min()": lambda s: s.a.min(),
    "A.max(1).values": lambda s: s.positive.max(1).values,
    "A.amax(0)": lambda s: s.a.amax(0),
    "A.std()": lambda s: s.a.std(),
    "A.var(1)": lambda s: s.a.var(1),
    "A.norm(dim=1)": lambda s: (s.a + s.x).norm(dim=1),
    "A.prod(1)": lambda s: s.a.prod(1),
    "A.logsumexp(1)": lambda s: s.a.logsumexp(1),
    "A.trace()": lambda s: s.a.trace(),
    "A.topk(1).values": lambda s: s.positive.topk(1).values,
    "A.cumsum(1)": lambda s: s.a.cumsum(1),
    "A.T @ dense": lambda s: s.a.T @ s.x,
    "A @ A": lambda s: s.a @ s.a,
    "torch.einsum": lambda s: torch.einsum("ij,kj->ik", s.a, s.x),
    "torch.tensordot": lambda s: torch.tensordot(s.a, s.x, 1),
    "torch.linalg.multi_dot": lambda s: torch.linalg.multi_dot([s.a, s.b, s.x]),
    "torch.linalg.matrix_power": lambda s: torch.linalg.matrix_power(s.a, 3),
    "torch.outer": lambda s: torch.outer(s.a[0], s.v),
    "torch.dot": lambda s: torch.dot(s.a[0], s.v),
    "A.mT": lambda s: s.a.mT,
    "A.reshape": lambda s: s.a.reshape(4, 9),
    "A.view": lambda s: s.a.view(-1),
    "A.flatten()": lambda s: s.a.flatten(),
    "A.unsqueeze(1)": lambda s: s.a.unsqueeze(1),
    "A.squeeze()": lambda s: s.a[None].squeeze(),
    "A.expand": lambda s: s.a.expand(2, 6, 6),
    "A.repeat": lambda s: s.a.repeat(2, 1),
    "A.permute(dims=)": lambda s: s.a.permute(dims=(1, 0)),
    "A.flip(dims=)": lambda s: s.a.flip(dims=(0,)),
    "A.roll": lambda s: s.a.roll(1, 0),
    "A.diagonal()": lambda s: s.a.diagonal(),
    "torch.diag": lambda s: torch.diag(s.a, 1),
    "A.tril()": lambda s: s.a.tril(),
    "A.triu(1)": lambda s: s.a.triu(1),
    "A.split": lambda s: s.a.split(4),
    "A.chunk": lambda s: s.a.chunk(2, dim=1),
    "torch.cat((A, B))": lambda s: torch.cat((s.a, s.b)),
    "torch.stack((A, B))": lambda s: torch.stack((s.a, s.b)),
    "torch.block_diag": lambda s: torch.block_diag(s.a, s.b),
    "torch.kron": lambda s: torch.kron(s.a[:2], s.b),
    "A.index_select": lambda s: s.a.index_select(1, _INDEX),
    "A.index_fill": lambda s: s.a.index_fill(0, _INDEX, 0),
    "A.gather": lambda s: s.a.gather(1, _INDEX[None]),
    "A.take": lambda s: s.a.take(_INDEX),
    "torch.take_along_dim": lambda s: torch.take_along_dim(s.a, _INDEX[None], 1),
    "functional.pad": lambda s: functional.pad(s.a, (1, 2)),
    "A.diff()": lambda s: s.a.diff(),
    "A.repeat_interleave": lambda s: s.a.repeat_interleave(2, 0),
    "torch.column_stack": lambda s: torch.column_stack((s.a, s.b)),
    "torch.linalg.vecdot": lambda s: torch.linalg.vecdot(s.a, s.x),
    "functional.cosine_similarity": lambda s: functional.cosine_similarity(s.positive, s.x),
    "nn.PReLU": lambda s: torch.nn.PReLU(dtype=torch.float64)(s.a),
    "torch.dist": lambda s: torch.dist(s.a, s.b),
    "sum([A, B])": lambda s: sum([s.a, s.b]),
    "A.float()": lambda s: s.a.float(),
    "A.type(torch.float32)": lambda s: s.a.type(torch.float32),
    "copy.copy(A)": lambda s: copy.copy(s.a),
}

# Rows without gradients.
OTHERS = {
    "A == B": lambda s: s.a == s.b,
    "A != 0": lambda s: s.a != 0,
    "A > 0": lambda s: s.a > 0,
    "A <= B": lambda s: s.a <= s.b,
    "(A > 0) & (B > 0)": lambda s: (s.a > 0) & (s.b > 0),
    "~(A > 0)": lambda s: ~(s.a > 0),
    "A.any(1)": lambda s: (s.a > 0).any(1),
    "A.all()": lambda s: (s.a > 0).all(),
    "A.argmax(1)": lambda s: s.a.argmax(1),
    "A.argmax()": lambda s: s.a.argmax(),
    "A.count_nonzero()": lambda s: s.a.count_nonzero(),
    "A.nonzero()": lambda s: s.a.nonzero(),
    "A.unique()": lambda s: s.a.unique(),
    "A.aminmax()": lambda s: list(s.a.aminmax()),
    "dense[A > 0]": lambda s: s.x[s.a > 0],
    "A.isnan().any()": lambda s: s.a.isnan().any(),
    "torch.allclose(A, A)": lambda s: torch.allclose(s.a, s.a.clone()),
    "len(A)": lambda s: len(s.a),
    "A.int()": lambda s: s.large.int(),
    "A.bool()": lambda s: s.a.bool(),
    "A *= 2": _augmented("imul", 2),
    "A /= 2": _augmented("itruediv", 2),
    "A += B": _augmented("iadd", "b"),
    "A -= B": _augmented("isub", "b"),
    "dense += A": lambda s: operator.iadd(s.x, s.a),
    "A.data": lambda s: s.a.data,
    "copy.deepcopy(A)": lambda s: copy.deepcopy(s.a),
    "pickle": lambda s: pickle.loads(pickle.dumps(s.a)),
    "torch.save, torch.load": lambda s: _saved(s.a),
    "torch.zeros_like(A)": lambda s: torch.zeros_like(s.a),
    "A.new_zeros": lambda s: s.a.new_zeros(3, 4),
    "A.new_ones": lambda s: s.a.new_ones(3, 4),
}

ROWS = [
    *_rows(True, **SMOOTH),
    *_rows(False, **OTHERS),
    Row(
        "A.sort(1).values",
        lambda s: s.a.sort(1).values,
        has_gradient=False,
        differs="Tulle sorts the stored entries of each row.",
    ),
]
