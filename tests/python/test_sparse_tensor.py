"""The class: properties, parts, transposes, trees, changed structure."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import torch
from helpers import MATRIX_FORMATS, assert_equal, random_dense, random_sparse
from torch.utils import _pytree as pytree

import tulle
from tulle.support import hints


@pytest.fixture
def data() -> torch.Tensor:
    return random_sparse(5, 7)


@pytest.fixture
def tensor(data: torch.Tensor) -> tulle.SparseTensor:
    return tulle.tensor(data, format="csr")


def test_properties(tensor: tulle.SparseTensor, data: torch.Tensor) -> None:
    assert tensor.shape == torch.Size([5, 7])
    assert tensor.size() == tensor.shape
    assert tensor.size(1) == 7
    assert tensor.ndim == tensor.dim() == 2
    assert tensor.numel() == 35
    assert len(tensor) == 5
    assert tensor.dtype == torch.float64
    assert tensor.device == torch.device("cpu")
    assert tensor.nnz == int((data != 0).sum()) == tensor.values().numel()
    assert tensor.fill == 0
    assert not tensor.requires_grad


def test_repr_shows_what_matters() -> None:
    small = tulle.tensor(torch.tensor([[0.0, 2.0], [1.5, 0.0]]))
    assert repr(small).splitlines() == [
        "tulle.SparseTensor(2x2 float32, csr, nnz=2, index_dtype=int32)",
        "  (0, 1): 2",
        "  (1, 0): 1.5",
    ]
    large = repr(tulle.tensor(torch.eye(100)))
    assert "  ..." in large
    assert len(large.splitlines()) == 10


def test_truth_is_not_defined(tensor: tulle.SparseTensor) -> None:
    with pytest.raises(tulle.UserError, match="no truth value"):
        bool(tensor)


def test_comparisons_with_other_objects(tensor: tulle.SparseTensor) -> None:
    assert tensor != None  # noqa: E711
    assert (tensor == "csr") is False
    assert tensor in [tensor]
    assert {tensor: 1}[tensor] == 1
    with pytest.raises(TypeError):
        _ = tensor < "csr"


def test_arrays_of_numpy_are_not_made_silently(tensor: tulle.SparseTensor) -> None:
    for make in (np.asarray, np.array, np.sum):
        with pytest.raises((tulle.UserError, TypeError)):
            make(tensor)


def test_to_as_in_torch(tensor: tulle.SparseTensor, data: torch.Tensor) -> None:
    assert tensor.to("cpu") is tensor
    assert tensor.to(torch.device("cpu"), non_blocking=True) is tensor
    assert tensor.cpu() is tensor
    for other in (
        tensor.to(torch.float32),
        tensor.to("cpu", torch.float32),
        tensor.to(data.float()),
        tensor.to(dtype=torch.float32),
        tensor.float(),
    ):
        assert other.pattern is tensor.pattern
        assert_equal(other, data.float())
    assert_equal(tensor.float().double(), data)
    assert tensor.to(torch.float32, format="csc").format == "csc"


@pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu has the machines with a GPU")
def test_a_missing_gpu_is_said_on_use(tensor: tulle.SparseTensor) -> None:
    for move in (lambda: tensor.to("cuda"), tensor.cuda, lambda: tensor.cuda(1)):
        with pytest.raises(tulle.UserError, match=r"there is no device 'cuda.*': (this )?PyTorch"):
            move()


def test_what_is_no_device_or_type(tensor: tulle.SparseTensor) -> None:
    with pytest.raises(tulle.UserError, match=r"'csr' is neither a device.*to\(format=\"csr\"\)"):
        tensor.to("csr")
    with pytest.raises(tulle.UserError, match="expected a type"):
        tensor.to(dtype="float")
    with pytest.raises(tulle.Unsupported, match="complex64"):
        tensor.to(torch.complex64)


def test_with_values_shares_the_pattern(tensor: tulle.SparseTensor) -> None:
    other = tensor.with_values(tensor.values() * 2)
    assert other.pattern is tensor.pattern
    assert_equal(other, tensor.to_dense() * 2)
    with pytest.raises(tulle.UserError, match=f"expected a vector of {tensor.nnz} values"):
        tensor.with_values(torch.zeros(1))
    with pytest.raises(tulle.UserError, match="expected a tensor, but found list"):
        tensor.with_values([1.0])
    with pytest.raises(tulle.Unsupported, match="complex64"):
        tensor.with_values(tensor.values().to(torch.complex64))


def test_missing_methods_are_explained(tensor: tulle.SparseTensor) -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'exponent'\."):
        _ = tensor.exponent
    with pytest.raises(AttributeError, match=r"no attribute 'cordinates'; did you mean 'coord"):
        _ = tensor.cordinates
    with pytest.raises(AttributeError, match=r"no attribute 'cumsum_'.*change the stored values"):
        tensor.cumsum_(0)
    with pytest.raises(AttributeError, match=r"no attribute 'cumsum'.*to_dense\(\)"):
        tensor.cumsum(0)
    with pytest.raises(AttributeError, match=r"no attribute 'frobnicate'\."):
        tensor.frobnicate()
    with pytest.raises(
        AttributeError, match=r"'triu_'; it would change which.*result of triu inst"
    ):
        tensor.triu_()
    assert not hasattr(tensor, "__wrapped__")


@pytest.mark.parametrize("name", sorted(hints.OF_TENSORS))
def test_names_of_other_libraries_are_translated(name: str) -> None:
    """The remedies exist and work."""
    matrix = tulle.rand(4, 4, density=0.5)
    scope = {"A": matrix, "B": matrix, "x": torch.rand(4, 2), "n": 4, "i": 1, "j": 2, "dim": 0}
    with pytest.raises(AttributeError, match=f"'{name}'; write ") as caught:
        getattr(matrix, name)
    evaluate(str(caught.value).partition("; write ")[2], scope)


@pytest.mark.parametrize("name", sorted(hints.OF_PACKAGE))
def test_names_of_other_packages_are_translated(name: str) -> None:
    matrix = tulle.rand(4, 4, density=0.5)
    scope = {"A": matrix, "B": matrix, "dim": 1, "n": torch.get_num_threads()}
    scope |= {"x": torch.eye(4), "array": torch.eye(3).numpy(), "matrix": torch.eye(3).numpy()}
    with pytest.raises(AttributeError, match=f"'{name}'; write ") as caught:
        getattr(tulle, name)
    evaluate(str(caught.value).partition("; write ")[2], scope)


def evaluate(remedy: str, scope: dict[str, object]) -> None:
    """Evaluates the expressions of a remedy: "A.T, or A.mT for batches."."""
    for text in remedy.removesuffix(".").split(", or "):
        for expression in text.replace(" and ", ", ").split(" for ")[0].split(" of ")[0].split(";"):
            eval(expression, {"tulle": tulle, "torch": torch, **scope})


def test_misspelled_names_of_the_package() -> None:
    with pytest.raises(AttributeError, match="no attribute 'tensr'; did you mean 'tensor'"):
        _ = tulle.tensr  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"no attribute 'frobnicate'\."):
        _ = tulle.frobnicate  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="'SparseParam'; did you mean 'SparseParameter'"):
        _ = tulle.nn.SparseParam  # type: ignore[attr-defined]


def test_messages_of_python_name_one_class(tensor: tulle.SparseTensor) -> None:
    for call in (tensor.softmax, lambda: tensor.to_torch("csr"), lambda: tensor.coalesce(3)):
        with pytest.raises(TypeError, match=r"^SparseTensor\.\w+\(\) "):
            call()


@pytest.mark.parametrize("format", MATRIX_FORMATS)
def test_transpose_copies_nothing(format: str, data: torch.Tensor) -> None:
    tensor = tulle.tensor(data, format=format)
    transposed = tensor.T
    assert transposed.values() is tensor.values()
    assert transposed.pattern.arrays is tensor.pattern.arrays
    assert_equal(transposed, data.T)
    assert_equal(tensor.t(), data.T)
    assert transposed.T.format == tensor.format


def test_permute() -> None:
    data = random_sparse(3, 4, 5)
    tensor = tulle.tensor(data)
    assert_equal(tensor.permute(2, 0, 1), data.permute(2, 0, 1))
    assert_equal(tensor.transpose(0, -1), data.transpose(0, -1))
    assert_equal(tensor.T, data.permute(2, 1, 0))
    assert_equal(tensor.permute((2, 0, 1)), data.permute(2, 0, 1))
    assert_equal(torch.permute(tensor, (2, 0, 1)), data.permute(2, 0, 1))
    with pytest.raises(tulle.UserError, match="each of 3 dimensions once"):
        tensor.permute(0, 0, 1)
    with pytest.raises(tulle.UserError, match="no dimension 3: the tensor has rank 3"):
        tensor.permute(0, 1, 3)
    with pytest.raises(tulle.UserError, match="transpose: there is no dimension 5"):
        tensor.transpose(0, 5)
    with pytest.raises(tulle.UserError, match="size: there is no dimension 3"):
        tensor.size(3)


def test_levels_go_back_in(tensor: tulle.SparseTensor, data: torch.Tensor) -> None:
    again = tulle.from_levels(tensor.format, tensor.shape, tensor.levels(), tensor.values())
    assert_equal(again, data)


def test_clone_and_detach(tensor: tulle.SparseTensor) -> None:
    assert tensor.clone().values().data_ptr() != tensor.values().data_ptr()
    assert tensor.detach().values().data_ptr() == tensor.values().data_ptr()


def test_trees_see_the_tensors(tensor: tulle.SparseTensor, data: torch.Tensor) -> None:
    leaves, spec = pytree.tree_flatten({"A": tensor})
    assert [leaf.numel() for leaf in leaves] == [6, tensor.nnz, tensor.nnz]
    again = pytree.tree_unflatten(leaves, spec)["A"]
    assert again.pattern is tensor.pattern
    doubled = pytree.tree_map(lambda leaf: leaf.clone(), tensor)
    assert_equal(doubled, data)
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec
    keys = [key for key, _ in pytree.tree_flatten_with_path(tensor)[0]]
    assert [str(key[0]) for key in keys] == [".pos1", ".crd1", ".values"]
    with pytest.raises(tulle.UserError, match="is outside"):
        pytree.tree_map(lambda leaf: leaf + 100 if leaf is leaves[1] else leaf, tensor)


def test_changed_structure_is_refused() -> None:
    pos, crd = torch.tensor([0, 1, 2]), torch.tensor([1, 0])
    tensor = tulle.from_levels("csr", (2, 2), [{}, {"pos": pos, "crd": crd}], torch.ones(2))
    dense = random_dense(2, 3, dtype=torch.float32)
    for _ in range(3):
        _ = tensor @ dense
    crd[0] = 7
    for use in (lambda: tensor @ dense, tensor.to_dense, lambda: tensor * dense[:, :2]):
        with pytest.raises(tulle.UserError, match="was written to after"):
            use()


def test_changes_through_the_torch_tensor_are_seen() -> None:
    source = torch.eye(3).to_sparse_csr()
    tensor = tulle.tensor(source)
    source.col_indices()[0] = 2
    with pytest.raises(tulle.UserError, match="was written to after"):
        _ = tensor @ torch.ones(3, 1)


@pytest.mark.parametrize("layout", [torch.sparse_csr, torch.sparse_csc, torch.sparse_coo])
def test_values_of_a_torch_tensor_may_change(layout: torch.layout) -> None:
    source = torch.eye(3).to_sparse(layout=layout)
    tensor = tulle.tensor(source)
    tensor.values().mul_(3)
    assert_equal(tensor @ torch.ones(3, 1), torch.full((3, 1), 3.0))
    assert_equal(source.to_dense(), 3 * torch.eye(3))
    source.mul_(2)
    with pytest.raises(tulle.UserError, match="PyTorch counts those writes together"):
        _ = tensor @ torch.ones(3, 1)


def test_structure_is_freed_at_once() -> None:
    tensor = tulle.tensor(torch.eye(3))
    for _ in range(3):
        _ = tensor @ torch.ones(3, 1)
    pattern = weakref.ref(tensor.pattern)
    gc.disable()
    try:
        del tensor
        assert pattern() is None
    finally:
        gc.enable()


def test_structure_made_in_inference_mode_works() -> None:
    with torch.inference_mode():
        tensor = tulle.tensor(torch.eye(3))
        assert_equal(tensor @ torch.ones(3, 1), torch.ones(3, 1))
        assert_equal(tensor @ torch.ones(3, 1), torch.ones(3, 1))


def test_a_transpose_that_is_dense_is_a_tensor_of_torch() -> None:
    x = torch.rand(4, 3)
    A = tulle.tensor(x, format="(i,j) -> (j: dense, i: dense)")
    assert isinstance(A.T, torch.Tensor)
    torch.testing.assert_close(A.T, x.T)
    torch.testing.assert_close(A.T @ torch.ones(4, 2), x.T @ torch.ones(4, 2))
    torch.testing.assert_close(A.transpose(0, 1), x.T)


def test_repr_shows_gradients() -> None:
    tensor = tulle.eye(2, requires_grad=True)
    assert "index_dtype=int32, requires_grad=True)" in repr(tensor)
    assert ", grad_fn=<MulBackward0>)" in repr(tensor * 2)
    assert "grad" not in repr(tensor.detach())
