"""Torch's accessors, type conversions, gradients and entries, on every format."""

from __future__ import annotations

import pytest
import torch
from helpers import MATRIX_FORMATS, assert_equal, random_dense, random_sparse
from torch import Tensor

import tulle

UNORDERED = "(i,j) -> (i: compressed nonunique unordered, j: singleton nonunique unordered)"
FORMATS = [
    *MATRIX_FORMATS,
    *("dia", "ell(7)", "ragged", "bitmap", "hyb(2,2)", UNORDERED),
    "{ band(-1,1): dia; rest: csr }",
]


@pytest.fixture
def data() -> Tensor:
    return random_sparse(5, 7)


# ---- layouts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_layout_is_that_of_the_exported_tensor(format: str, data: Tensor) -> None:
    tensor = tulle.tensor(data, format=format)
    exported = tensor.to_torch()
    assert tensor.layout == exported.layout
    assert tensor.is_sparse == exported.is_sparse
    assert tensor.is_sparse_csr == exported.is_sparse_csr
    assert tensor._nnz() == tensor.nnz
    assert tensor.is_cpu and not tensor.is_cuda and not tensor.is_meta
    assert tensor.get_device() == -1


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "bsc"])
def test_compressed_indices_equal_torchs(kind: str) -> None:
    data = random_sparse(6, 9)
    block = [(2, 3)] if kind.startswith("bs") else []
    expected = getattr(data, f"to_sparse_{kind}")(*block)
    tensor = getattr(tulle.tensor(data), f"to_sparse_{kind}")(*block)
    assert tensor.layout == expected.layout
    names = ["crow_indices", "col_indices", "ccol_indices", "row_indices"]
    own = names[:2] if kind in ("csr", "bsr") else names[2:]
    for name in names:
        if name in own:
            found = getattr(tensor, name)()
            assert_equal(found.long(), getattr(expected, name)())
            assert found is tensor.pattern.arrays[own.index(name)]
        else:
            with pytest.raises(tulle.UserError, match=rf"A.to\(format=.*\).{name}\(\)"):
                getattr(tensor, name)()
    assert_equal(tensor.values(), expected.values().reshape(-1))


@pytest.mark.parametrize("format", FORMATS)
def test_indices_match_the_values(format: str, data: Tensor) -> None:
    tensor = tulle.tensor(data, format=format)
    if tensor.pattern.has_padding:
        with pytest.raises(tulle.UserError, match=r"A.entries\(\)"):
            tensor.indices()
        tensor = tensor.to(format="coo")
    again = torch.zeros_like(data)
    again[tuple(tensor.indices())] = tensor.values()
    assert_equal(again, data)
    assert torch.equal(tensor.indices(), tensor._indices())


def test_blocks_are_counted_as_in_torch() -> None:
    data = random_sparse(6, 9)
    for layout in (torch.sparse_bsr, torch.sparse_bsc):
        expected = data.to_sparse(layout=layout, blocksize=(2, 3))
        tensor = tulle.tensor(expected)
        assert tensor._nnz() == expected._nnz()
        assert tensor.nnz == 6 * expected._nnz()


def test_gradients_without_memory_become_values(data: Tensor) -> None:
    tensor = tulle.tensor(data).requires_grad_()
    tensor.sgn().to_dense().sum().backward()
    assert tensor.grad is not None
    assert_equal(tensor.with_values(tensor.grad), data * 0)


def test_indices_of_other_ranks_are_explained() -> None:
    tensor = tulle.tensor(random_sparse(2, 3, 4), format="csr")
    with pytest.raises(tulle.UserError, match=r"levels\(\) has the arrays"):
        tensor.crow_indices()


@pytest.mark.parametrize("format", FORMATS)
def test_conversions_to_torchs_formats(format: str, data: Tensor) -> None:
    tensor = tulle.tensor(data, format=format)
    assert tensor.to_sparse().format == tensor.to_sparse_coo().format == "coo"
    for found, wanted in [
        (tensor.to_sparse_csr(), "csr"),
        (tensor.to_sparse_csc(), "csc"),
        (tensor.to_sparse_bsr((2, 3)), "bsr(2,3)"),
        (tensor.to_sparse_bsc([2, 3]), "bsc(2,3)"),
        (tensor.to_sparse(layout=torch.sparse_csc), "csc"),
        (tensor.to_sparse(1), "(i,j) -> (i: compressed, j: dense)"),
    ]:
        assert found.format == wanted
        assert_equal(found, data)
    assert_equal(tensor.to_dense(torch.float32), data.float())
    assert tensor.to("cpu", copy=True).values() is not tensor.values()


def test_hybrid_conversions_have_dense_dimensions() -> None:
    data = random_sparse(3, 4, 5)
    tensor = tulle.tensor(data)
    assert (tensor.sparse_dim(), tensor.dense_dim()) == (3, 0)
    for found in (tensor.to_sparse(2), tensor.to_sparse_csr(dense_dim=1)):
        assert (found.sparse_dim(), found.dense_dim()) == (2, 1)
        assert_equal(found, data)
    with pytest.raises(tulle.UserError, match="dense dimensions do not fit"):
        tensor.to_sparse(4)
    with pytest.raises(tulle.UserError, match="no sparse layout"):
        tensor.to_sparse(layout=torch.strided)
    with pytest.raises(tulle.UserError, match=r"to_sparse_bsr\(\(2, 3\)\)"):
        tulle.tensor(data[0]).to_sparse_bsr(2)


# ---- types and memory ----------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_types(format: str, data: Tensor) -> None:
    tensor = tulle.tensor(data, format=format)
    assert tensor.is_floating_point() and torch.is_floating_point(tensor)
    assert tensor.is_signed() and not tensor.is_complex() and not torch.is_complex(tensor)
    assert torch.is_signed(tensor) and not torch.is_inference(tensor)
    assert not torch.is_conj(tensor) and not torch.is_neg(tensor)
    assert torch.is_same_size(tensor, data) and not torch.is_same_size(data[0], tensor)
    assert tensor.itemsize == tensor.element_size() == 8
    assert tensor.nelement() == torch.numel(tensor) == 35
    assert tensor.type() == "torch.sparse.DoubleTensor"
    for found, dtype in [
        (tensor.int(), torch.int32),
        (tensor.long(), torch.int64),
        (tensor.bool(), torch.bool),
        (tensor.type(torch.float32), torch.float32),
        (tensor.type("torch.sparse.FloatTensor"), torch.float32),
        (tensor.type_as(torch.ones(1)), torch.float32),
    ]:
        assert_equal(found, data.to(dtype))
        assert found.pattern is tensor.pattern
    assert torch.ones(2, dtype=torch.float32).to(tensor).dtype == torch.float64
    assert torch.ones(2, dtype=torch.float32).type_as(tensor).dtype == torch.float64


@pytest.mark.parametrize("format", FORMATS)
def test_memory(format: str, data: Tensor) -> None:
    tensor = tulle.tensor(data, format=format)
    arrays = [*tensor.pattern.arrays, tensor.values()]
    assert tensor.nbytes == sum(array.numel() * array.element_size() for array in arrays)
    assert tensor.contiguous() is tensor and tensor.is_contiguous()
    assert not tensor.is_shared() and not tensor.is_pinned()
    x = random_dense(7, 3)
    before = tensor @ x
    assert tensor.share_memory_() is tensor
    assert tensor.is_shared()
    assert_equal(tensor @ x, before)


@pytest.mark.parametrize("name", ["numpy", "tolist", "stride", "data_ptr", "untyped_storage"])
def test_what_has_no_meaning_is_explained(name: str, data: Tensor) -> None:
    tensor = tulle.tensor(data)
    with pytest.raises(tulle.UserError, match=rf"^{name}: .* write A\."):
        getattr(tensor, name)()


@pytest.mark.parametrize("name", ["byte", "char", "short", "cfloat", "cdouble"])
def test_types_that_values_cannot_have(name: str, data: Tensor) -> None:
    with pytest.raises(tulle.Unsupported, match="convert them to one of bool, int32"):
        getattr(tulle.tensor(data), name)()


@pytest.mark.parametrize("format", FORMATS)
def test_new_tensors(format: str, data: Tensor) -> None:
    tensor = tulle.tensor(data, format=format)
    for found in (tensor.new_zeros(3, 4), tensor.new_empty((3, 4))):
        assert found.format == tensor.format
        assert_equal(found, torch.zeros(3, 4, dtype=torch.float64))
    assert_equal(tensor.new_zeros(6, dtype=torch.int64), torch.zeros(6, dtype=torch.int64))
    assert_equal(tensor.new_ones(3), torch.ones(3, dtype=torch.float64))
    assert_equal(tensor.new_full((2,), 3.0), torch.full((2,), 3.0, dtype=torch.float64))
    assert_equal(tensor.new_tensor([1, 2]), torch.tensor([1.0, 2.0], dtype=torch.float64))


# ---- gradients -----------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_gradients_belong_to_the_values(format: str, data: Tensor) -> None:
    tensor = tulle.tensor(data, format=format)
    tensor = tensor.with_values(tensor.values().clone())
    assert not tensor.requires_grad and tensor.is_leaf and tensor.grad_fn is None
    assert tensor.requires_grad_() is tensor
    assert tensor.requires_grad and tensor.values().requires_grad
    seen: list[Tensor] = []
    tensor.register_hook(seen.append)
    doubled = tensor * 2
    assert not doubled.is_leaf and doubled.grad_fn is not None
    doubled.retain_grad()
    assert doubled.retains_grad
    x = random_dense(7, 3)
    (doubled @ x).sum().backward()
    assert tensor.grad is not None and tensor.grad.shape == tensor.values().shape
    assert torch.equal(seen[0], tensor.grad)
    assert torch.equal(doubled.grad.sum() * 2, tensor.grad.sum())
    rows = tensor.with_values(tensor.grad).to_dense().detach()
    assert_equal(rows * (data != 0), 2 * x.sum(1).expand(5, 7) * (data != 0))
    tensor.grad = None
    assert tensor.values().grad is None
    assert not tensor.detach().requires_grad and not tensor.data.requires_grad
    assert not (tensor * 1).detach_().requires_grad
    tensor.requires_grad = False
    assert not tensor.values().requires_grad


def test_backward_of_a_sparse_result(data: Tensor) -> None:
    tensor = tulle.tensor(data).requires_grad_()
    squares = tensor * tensor
    squares.backward(torch.ones_like(squares.values()), retain_graph=True)
    assert tensor.grad is not None
    assert_equal(tensor.grad, 2 * tensor.values().detach())
    squares.backward(squares.detach())
    with pytest.raises(tulle.UserError, match="another pattern"):
        squares.backward(tulle.tensor(data))


# ---- entries -------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_pruning(format: str, data: Tensor) -> None:
    data[data == 3] = torch.nan
    tensor = tulle.tensor(data, format=format)
    tensor = tensor.with_values(tensor.values().clone()).requires_grad_()
    mask = (random_dense(5, 7, seed=4) > 0).double()
    masked = tensor * mask
    for threshold in (0, 2.5):
        found = masked.prune(threshold)
        expected = torch.where((data * mask).abs() <= threshold, 0, data * mask)
        assert found.format == masked.format
        torch.testing.assert_close(found.to_dense(), expected, equal_nan=True)
        if format in ("csr", "csc", "coo", "dcsr", "ell(7)", "bitmap"):
            assert found.nnz == int((expected != 0).sum())
    (gradient,) = torch.autograd.grad(masked.prune(2.5).to_dense().nansum(), tensor.values())
    kept = ((data * mask).abs() > 2.5) & ~data.isnan()
    assert_equal(tensor.detach().with_values(gradient).to_dense() * (data != 0), kept.double())


def test_thresholds_are_numbers(data: Tensor) -> None:
    for threshold in (-1, "small", True, None):
        with pytest.raises(tulle.UserError, match="the threshold is a number from 0 on"):
            tulle.tensor(data).prune(threshold)


def test_pruning_of_blocks_drops_blocks_of_zeros() -> None:
    data = torch.zeros(4, 6)
    data[0, 0] = data[3, 5] = 1
    blocks = tulle.tensor(data, format="bsr(2,3)")
    found = (blocks * torch.tensor([[1.0] * 3 + [0.0] * 3])).prune()
    assert found.format == "bsr(2,3)" and found.values().numel() == 6


@pytest.mark.parametrize("format", FORMATS)
def test_distinct_entries_are_coalesced(format: str, data: Tensor) -> None:
    tensor = tulle.tensor(data, format=format)
    assert tensor.is_coalesced() and tensor.coalesce() is tensor


def test_repeated_entries_are_summed_with_gradients() -> None:
    rows, columns = torch.tensor([2, 0, 2, 0]), torch.tensor([1, 3, 1, 0])
    values = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64, requires_grad=True)
    levels = [{"pos": torch.tensor([0, 4]), "crd": rows}, {"crd": columns}]
    tensor = tulle.from_levels(UNORDERED, (3, 4), levels, values)
    assert not tensor.is_coalesced()
    found = tensor.coalesce()
    assert found.is_coalesced() and found.nnz == 3
    expected = torch.zeros(3, 4, dtype=torch.float64)
    expected.index_put_((rows, columns), values.detach(), accumulate=True)
    assert_equal(found.detach(), expected)
    assert torch.autograd.gradcheck(lambda v: tensor.with_values(v).coalesce().values(), (values,))


@pytest.mark.parametrize("format", FORMATS)
def test_copying_values_and_entries(format: str, data: Tensor) -> None:
    tensor = tulle.tensor(data, format=format).clone()
    pattern, values = tensor.pattern, tensor.values()
    tensor.copy_(tulle.tensor(data, format=format).float() * 2)
    assert tensor.pattern is pattern and tensor.values() is values
    assert_equal(tensor, data * 2)
    tensor.copy_(tulle.tensor(data.flip(0), format="csr"))
    assert tensor.format == pattern.format
    assert_equal(tensor, data.flip(0))
    with pytest.raises(tulle.UserError, match=r"copy_: expected .* \[5, 7\]"):
        tensor.copy_(data)
    with pytest.raises(tulle.UserError, match="requires a gradient"):
        tulle.tensor(data).requires_grad_().copy_(tensor)


# ---- torch.compile -------------------------------------------------------------------------------


def test_accessors_in_compiled_functions(data: Tensor) -> None:
    def compute(A: tulle.SparseTensor, x: Tensor) -> Tensor:
        if A.is_floating_point() and A.layout == torch.sparse_csr and not A.requires_grad:
            A = A.coalesce().contiguous().type_as(x)
        scaled = torch.full_like(A, 2) * A.detach() + torch.ones_like(A)
        result: Tensor = scaled @ x + A.crow_indices().sum() + A.nbytes
        return result

    tensor, x = tulle.tensor(data), random_dense(7, 3)
    compiled = torch.compile(compute, fullgraph=True, backend="aot_eager")
    assert_equal(compiled(tensor, x), compute(tensor, x))
