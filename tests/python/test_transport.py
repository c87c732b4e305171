"""Sparse tensors in pickles, copies, files, other processes and data loaders."""

from __future__ import annotations

import copy
import io
import multiprocessing
import pickle
from pathlib import Path

import pytest
import torch
import torch.multiprocessing
from helpers import MATRIX_FORMATS, assert_equal, random_dense, random_sparse
from torch.utils.data import DataLoader, Dataset

import tulle


@pytest.fixture
def data() -> torch.Tensor:
    return random_sparse(5, 7)


COMPOSITE = "{ rows(nnz<=1): bitmap; rest: csr }"  # bits do not show the type of indices


@pytest.mark.parametrize("format", [*MATRIX_FORMATS, "bitmap", COMPOSITE])
def test_pickle(data: torch.Tensor, format: str) -> None:
    tensor = tulle.tensor(data, format=format)
    again = pickle.loads(pickle.dumps(tensor))
    assert again.format == tensor.format
    assert again.index_dtype == tensor.index_dtype
    assert_equal(again, data)
    assert_equal(again @ data.T, data @ data.T)


def test_copies(data: torch.Tensor) -> None:
    tensor = tulle.tensor(data)
    shallow = copy.copy(tensor)
    assert shallow.pattern is tensor.pattern
    assert shallow.values() is tensor.values()
    deep = copy.deepcopy(tensor)
    assert_equal(deep, data)
    ours, theirs = ([*each.pattern.arrays, each.values()] for each in (tensor, deep))
    assert all(a.data_ptr() != b.data_ptr() for a, b in zip(ours, theirs, strict=True))


def test_deep_copies_keep_what_is_shared(data: torch.Tensor) -> None:
    tensor = tulle.tensor(data)
    first, second = copy.deepcopy((tensor, tensor * 2))
    assert first.pattern is second.pattern
    assert first.pattern is not tensor.pattern


def test_pickled_structure_is_not_trusted(data: torch.Tensor) -> None:
    rebuild, (format, shape, arrays, values, index_dtype) = tulle.tensor(data).__reduce__()
    broken = (arrays[0], arrays[1] + 100)
    with pytest.raises(tulle.UserError, match="is outside"):
        rebuild(format, shape, broken, values, index_dtype)


def test_torch_save(data: torch.Tensor) -> None:
    tensor = tulle.tensor(data)
    file = io.BytesIO()
    torch.save({"A": tensor, "format": tensor.format}, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=True)
    assert_equal(loaded["A"], data)
    assert loaded["format"] == tensor.format


def test_modules_with_sparse_tensors(data: torch.Tensor, tmp_path: Path) -> None:
    module = torch.nn.Linear(2, 2)
    module.graph = tulle.tensor(data)
    again = copy.deepcopy(module)
    assert_equal(again.graph, data)
    torch.save(module, tmp_path / "module.pt")
    assert_equal(torch.load(tmp_path / "module.pt", weights_only=False).graph, data)


def _double(source: torch.multiprocessing.Queue, target: torch.multiprocessing.Queue) -> None:
    tensor = source.get(timeout=60)
    target.put(tensor * 2)
    source.get(timeout=60)  # memory that is shared must live until it is read


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_queues(data: torch.Tensor, method: str) -> None:
    context = torch.multiprocessing.get_context(method)
    source, target = context.Queue(), context.Queue()
    process = context.Process(target=_double, args=(source, target))
    process.start()
    source.put(tulle.tensor(data))
    assert_equal(target.get(timeout=60), data * 2)
    source.put(None)
    process.join(60)
    assert process.exitcode == 0


class Matrices(Dataset[tulle.SparseTensor]):
    """Eight sparse matrices of different shapes."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, at: int) -> tulle.SparseTensor:
        return tulle.tensor(random_sparse(4 + at, 7, seed=at))


@pytest.mark.parametrize("workers", [0, 2])
def test_data_loaders(workers: int) -> None:
    loader = DataLoader(Matrices(), batch_size=None, num_workers=workers)
    x = random_dense(7, 3)
    for at, tensor in enumerate(loader):
        assert_equal(tensor @ x, random_sparse(4 + at, 7, seed=at) @ x)
    assert multiprocessing.active_children() == []
