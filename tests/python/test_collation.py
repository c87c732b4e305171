"""Batches in data loaders, and comparisons with torch.testing.assert_close."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.multiprocessing
from helpers import MATRIX_FORMATS, assert_equal, random_dense, random_sparse
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, default_collate

import tulle

FORMATS = [*MATRIX_FORMATS, "dia", "ell(7)", "ragged", "bitmap", "hyb(2,2)"]


# ---- collation -----------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_batches_are_stacked(format: str) -> None:
    data = [random_sparse(5, 7, seed=seed, density=0.1 + 0.2 * seed) for seed in range(3)]
    tensors = [tulle.tensor(one, format=format) for one in data]
    tensors = [one.with_values(one.values().clone()).requires_grad_() for one in tensors]
    batch = default_collate(tensors)
    assert batch.ndim == 3
    assert_equal(batch.detach(), torch.stack(data))
    x = random_dense(3, 7, 2)
    result = tulle.einsum("bij,bjk->bik", batch, x)
    assert_equal(result.detach(), torch.stack(data) @ x)
    result.sum().backward()
    alone = tensors[1].detach().requires_grad_()
    gradient = tensors[1].grad
    (alone @ x[1]).sum().backward()
    assert gradient is not None
    assert_equal(gradient, alone.grad)


@pytest.mark.parametrize("shape", [(6,), (2, 3, 4)])
def test_batches_of_other_ranks(shape: tuple[int, ...]) -> None:
    data = [random_sparse(*shape, seed=seed) for seed in range(2)]
    assert_equal(default_collate([tulle.tensor(one) for one in data]), torch.stack(data))


def test_batches_keep_the_format() -> None:
    data = random_sparse(5, 7)
    batch = default_collate([tulle.tensor(data), tulle.tensor(data, format="csc")])
    assert batch.format == tulle.Format("csr", 3)


@pytest.mark.parametrize("format", ["csr", "coo", "ell(7)", "bitmap"])
def test_batches_of_rows_are_matrices(format: str) -> None:
    data = random_sparse(5, 7)
    tensor = tulle.tensor(data, format=format)
    batch = default_collate([tensor[row] for row in (3, 0, 3, 4)])
    assert_equal(batch, data[[3, 0, 3, 4]])
    batch.pattern.validate("the batch", batch.values())
    if format in ("csr", "coo"):
        assert batch.format == "csr"


def test_batches_of_different_shapes_are_refused() -> None:
    data = random_sparse(5, 7)
    for other in (data[:3], data.float()):
        with pytest.raises(tulle.UserError, match="collate_fn=list"):
            default_collate([tulle.tensor(data), tulle.tensor(other)])


class Graphs(Dataset[dict[str, Any]]):
    """Six graphs of one size with labels."""

    def __len__(self) -> int:
        return 6

    def __getitem__(self, at: int) -> dict[str, Any]:
        return {"graph": tulle.tensor(random_sparse(4, 4, seed=at)), "label": at}


@pytest.mark.parametrize("method", [None, "fork", "spawn"])
def test_workers_of_data_loaders(method: str | None) -> None:
    workers = 0 if method is None else 2
    loader = DataLoader(Graphs(), batch_size=3, num_workers=workers, multiprocessing_context=method)
    seen = 0
    for batch in loader:
        expected = torch.stack([random_sparse(4, 4, seed=int(at)) for at in batch["label"]])
        assert_equal(batch["graph"], expected)
        seen += 1
    assert seen == 2


def _double(tensor: tulle.SparseTensor, module: torch.nn.Module) -> None:
    tensor.values().mul_(2)
    with torch.no_grad():
        module.weight.mul_(3)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_write_to_shared_memory(method: str) -> None:
    data = random_sparse(5, 7)
    tensor = tulle.tensor(data).share_memory_()
    module = tulle.nn.SparseParameter(tulle.tensor(data)).share_memory()
    context = torch.multiprocessing.get_context(method)
    process = context.Process(target=_double, args=(tensor, module))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    assert_equal(tensor, data * 2)
    assert_equal(module().detach(), data * 3)


# ---- comparisons ---------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_comparisons(format: str) -> None:
    data = random_sparse(5, 7)
    tensor = tulle.tensor(data, format=format)
    torch.testing.assert_close(tensor, tensor.clone())
    torch.testing.assert_close([tensor, 1], [tensor.clone(), 1])
    torch.testing.assert_close(tensor, tensor * (1 + 1e-12), check_layout=False)
    with pytest.raises(AssertionError, match="not close"):
        torch.testing.assert_close(tensor, tensor.with_values(tensor.values() * 2))
    with pytest.raises(AssertionError, match="dtype"):
        torch.testing.assert_close(tensor, tensor.float())


def test_comparisons_with_other_layouts() -> None:
    data = random_sparse(5, 7)
    tensor = tulle.tensor(data, format="csr")
    torch.testing.assert_close(tensor, data.to_sparse_csr(), check_layout=False)
    for other in (data, tensor.to(format="csc")):
        torch.testing.assert_close(tensor, other, check_layout=False)
        torch.testing.assert_close(other, tensor, check_layout=False)
        with pytest.raises(AssertionError, match="layout"):
            torch.testing.assert_close(tensor, other)


def test_other_comparisons_stay_as_they_are() -> None:
    same: list[Tensor | float] = [torch.ones(2), 1.0]
    torch.testing.assert_close(same, same)
    with pytest.raises(AssertionError):
        torch.testing.assert_close(torch.ones(2), torch.zeros(2))
    with pytest.raises(TypeError):
        torch.testing.assert_close(tulle.eye(2), "no tensor")
