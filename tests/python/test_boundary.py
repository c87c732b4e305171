"""Everything that reaches kernels from outside is checked, copied, or known to come from Tulle."""

from __future__ import annotations

import copy
import io
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import torch
from helpers import MATRIX_FORMATS, assert_equal, random_dense, random_sparse
from torch.utils import _pytree as pytree

import tulle
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import restored

COMPOSITES = ["hyb(2,2)", "{ band(-1,1): dia; rest: csr }", "{ rows(nnz<=1): bitmap; rest: csr }"]
FORMATS = [*MATRIX_FORMATS, "ell(7)", "pieces(2)", "dia", "ragged", "bitmap", *COMPOSITES]
FAR = 1_000_000_000
WRITTEN = "was written to after the tensor was made"


def sparse(format: str = "csr", **kwargs: Any) -> tulle.SparseTensor:
    return tulle.tensor(random_sparse(5, 7, **kwargs), format=format, index_dtype=torch.int64)


def uses(tensor: tulle.SparseTensor) -> list[Callable[[], object]]:
    """Computations that read the structure."""
    x = random_dense(tensor.shape[1], 3)
    return [
        lambda: tensor @ x,
        lambda: tensor.T @ random_dense(tensor.shape[0], 3),
        lambda: tensor.sum(1),
        lambda: tensor * x[:, 0],
        lambda: tensor.to(format="(i,j) -> (j: dense, i: bitmap)"),
        lambda: tensor.to_dense(),
        lambda: tulle.compute("y[i] = A[i,j] * A[i,j]", A=tensor),
        lambda: tulle.explain("ij->i", tensor),
        lambda: tensor.to_torch(),
        lambda: tensor.to_scipy(),
        lambda: tensor.coordinates(),
        lambda: pickle.dumps(tensor),
        lambda: copy.deepcopy(tensor),
    ]


def refuse_all(tensor: tulle.SparseTensor, message: str = "") -> None:
    for use in uses(tensor):
        with pytest.raises(tulle.UserError, match=message):
            use()


# ---- files ---------------------------------------------------------------------------------------


class Crafted:
    """Pickles as a call of `restored`."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, self.arguments


def loaded(content: Any, is_zip: bool = True) -> Any:
    file = io.BytesIO()
    torch.save(content, file, _use_new_zipfile_serialization=is_zip)
    file.seek(0)
    return torch.load(file, weights_only=True)


def arguments_of(format: str) -> list[Any]:
    return list(sparse(format).__reduce__()[1])


@pytest.mark.parametrize("format", FORMATS)
def test_files_with_wrong_structure_are_refused(format: str) -> None:
    arguments = arguments_of(format)
    assert_equal(loaded(Crafted(*arguments)), random_sparse(5, 7))
    text, numbers, arrays, values, index_dtype = arguments
    wrong: list[tuple[Any, ...]] = [
        ("nothing", numbers, arrays, values, index_dtype),
        ("dense", numbers, arrays, values, index_dtype),
        (7, numbers, arrays, values, index_dtype),
        (text, [-1, *numbers[1:]], arrays, values, index_dtype),
        (text, numbers[1:], arrays, values, index_dtype),
        (text, "57", arrays, values, index_dtype),
        (text, numbers, arrays[1:], values, index_dtype),
        (text, numbers, [*arrays, arrays[0]], values, index_dtype),
        (text, numbers, None, values, index_dtype),
        (text, numbers, arrays, torch.cat([values, values]), index_dtype),
        (text, numbers, arrays, values.reshape(1, -1), index_dtype),
        (text, numbers, arrays, values.tolist(), index_dtype),
        (text, numbers, arrays, values.to_sparse(), index_dtype),
    ]
    for at, array in enumerate(arrays):
        if array.dtype == torch.int64 and array.numel():
            for change in (array + FAR, array.to(torch.float32), array[:-1], array.tolist()):
                changed = (*arrays[:at], change, *arrays[at + 1 :])
                wrong.append((text, numbers, changed, values, index_dtype))
    for crafted in wrong:
        with pytest.raises((tulle.UserError, tulle.Unsupported)):
            loaded(Crafted(*crafted))


@pytest.mark.parametrize("format", COMPOSITES)
def test_counts_of_parts_are_checked(format: str) -> None:
    text, numbers, arrays, values, index_dtype = arguments_of(format)
    for at in range(2, len(numbers)):
        for count in (numbers[at] + 1, numbers[at] - 1, FAR, -64):
            changed = (*numbers[:at], count, *numbers[at + 1 :])
            with pytest.raises(tulle.UserError):
                restored(text, changed, arrays, values, index_dtype)


@pytest.mark.parametrize("is_zip", [True, False])
@pytest.mark.parametrize("format", ["csr", "hyb(2,2)"])
def test_tensors_of_a_file_share_no_structure(format: str, is_zip: bool) -> None:
    tensor = sparse(format)
    everything = (tensor, list(tensor.pattern.arrays))
    again, arrays = pickle.loads(pickle.dumps(everything))
    if is_zip:
        again, arrays = loaded(everything)
    assert_equal(again @ torch.eye(7, dtype=torch.float64), random_sparse(5, 7))
    for array in arrays:
        array.fill_(FAR)
    assert_equal(again @ torch.eye(7, dtype=torch.float64), random_sparse(5, 7))


def test_structure_that_is_filled_after_unpickling_is_checked_again() -> None:
    # Of old files torch.load reads the elements last.
    text, numbers, arrays, values, index_dtype = arguments_of("csr")
    first = restored(text, numbers, arrays, values, index_dtype)
    arrays[1][0] = FAR
    refuse_all(first, "is outside")
    arrays[1][0] = 0


def test_a_format_in_a_file_has_no_other_state() -> None:
    format = tulle.Format("csr")
    assert pickle.loads(pickle.dumps(format)) == format
    with pytest.raises(tulle.UserError, match="other state"):
        format.__setstate__((None, {"_text": "dense"}))


# ---- trees ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_trees_with_wrong_leaves_are_refused(format: str) -> None:
    leaves, spec = pytree.tree_flatten(sparse(format))
    assert_equal(pytree.tree_unflatten(leaves, spec), random_sparse(5, 7))
    for at, leaf in enumerate(leaves):
        longer = torch.cat([leaf, leaf.new_zeros(64)])
        for change in (longer, leaf.reshape(1, -1), torch.nn.Parameter(longer.double())):
            with pytest.raises((tulle.UserError, tulle.Unsupported)):
                pytree.tree_unflatten([*leaves[:at], change, *leaves[at + 1 :]], spec)
        if leaf.dtype == torch.int64 and leaf.numel():
            with pytest.raises(tulle.UserError):
                pytree.tree_unflatten([*leaves[:at], leaf + FAR, *leaves[at + 1 :]], spec)


def test_trees_of_other_objects_can_be_built() -> None:
    tree = pytree.tree_map(lambda leaf: leaf.numel(), sparse())
    assert pytree.tree_leaves(tree)[0] == 6


def test_serialised_trees_name_an_index_type() -> None:
    _, spec = pytree.tree_flatten(sparse())
    text = pytree.treespec_dumps(spec)
    assert pytree.treespec_loads(text) == spec
    with pytest.raises(tulle.UserError, match="int32 or int64"):
        pytree.treespec_loads(text.replace("int64", "load"))


# ---- raw storage ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "group", "block"), [("pieces(2)", 2, 1), ("pieces(4)", 4, 1), ("sr-bcrs(2,4)", 4, 2)]
)
def test_segments_have_fewer_unused_slots_than_their_multiple(
    format: str, group: int, block: int
) -> None:
    tensor = sparse(format)
    levels = tensor.levels()
    level = next(one for one in reversed(levels) if one)
    for more in (group, 2 * group):
        pos = level["pos"].clone()
        pos[-1] += more
        crd = torch.cat([level["crd"], torch.full((more,), -1)])
        values = torch.cat([tensor.values(), torch.zeros(more * block, dtype=torch.float64)])
        changed = [{"pos": pos, "crd": crd} if one is level else one for one in levels]
        with pytest.raises(tulle.UserError, match=f"has {group} or more unused slots"):
            tulle.from_levels(tensor.format, tensor.shape, changed, values)


@pytest.mark.parametrize("source", ["numpy", "inference", "shared", "file"])
def test_structure_with_unseen_writers_is_copied(source: str, tmp_path: Any) -> None:
    original = sparse()
    pos, crd = (array.clone() for array in original.pattern.arrays)
    write: Callable[[], object]
    if source == "numpy":
        memory = crd.numpy().copy()
        crd, write = torch.from_numpy(memory), lambda: memory.fill(FAR)
    elif source == "inference":
        with torch.inference_mode():
            crd = crd.clone()

        def write() -> None:
            with torch.inference_mode():
                crd.fill_(FAR)

    elif source == "shared":
        crd = crd.share_memory_()
        process = multiprocessing.get_context("fork").Process(target=crd.fill_, args=(FAR,))
        write = lambda: (process.start(), process.join())  # noqa: E731
    else:
        np.save(tmp_path / "crd.npy", crd.numpy())
        memory = np.load(tmp_path / "crd.npy", mmap_mode="r+")
        crd, write = torch.from_numpy(memory), lambda: memory.fill(FAR)
    levels = [{}, {"pos": pos, "crd": crd}]
    tensor = tulle.from_levels("csr", (5, 7), levels, original.values())
    write()
    assert int(crd[0]) == FAR
    assert_equal(tensor.to_dense(), random_sparse(5, 7))


def test_arrays_that_overlap_are_copied() -> None:
    values = torch.tensor([1, 1, 2])
    levels = [{}, {"pos": torch.tensor([0, 2, 3]), "crd": values.data[[0, 1, 2]] * 0 + values.data}]
    levels[1]["crd"] = values.data
    tensor = tulle.from_levels(
        "(i,j) -> (i: dense, j: compressed nonunique)", (2, 3), levels, values
    )
    values.fill_(FAR)  # the values are shared, the structure is not
    assert tensor.to_dense().tolist() == [[0, 2 * FAR, 0], [0, 0, FAR]]


def test_copy_of_imports() -> None:
    data = scipy.sparse.csr_array(random_sparse(5, 7).numpy())

    def pointers(tensor: tulle.SparseTensor) -> list[int]:
        return [one.data_ptr() for one in (*tensor.pattern.arrays, tensor.values())]

    theirs = [one.ctypes.data for one in (data.indptr, data.indices, data.data)]
    assert pointers(tulle.tensor(data, copy=False)) == theirs
    assert pointers(tulle.tensor(data))[2] == theirs[2]
    assert not set(pointers(tulle.tensor(data))[:2]) & set(theirs)
    assert not set(pointers(tulle.tensor(data, copy=True))) & set(theirs)
    tensor = tulle.tensor(data)
    exported = tensor.to_scipy()
    data.indices[:] = FAR
    exported.indices[:] = FAR
    assert_equal(tensor.to_dense(), random_sparse(5, 7))
    levels = [{}, {"pos": torch.from_numpy(data.indptr), "crd": torch.from_numpy(data.indptr)}]
    levels[1]["crd"] = torch.zeros(tensor.nnz, dtype=torch.int32)
    with pytest.raises(tulle.UserError):
        tulle.from_levels("csr", (5, 7), levels, tensor.values(), copy=False)


# ---- structure that was written to ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "name", "array"),
    [
        ("csr", "indptr", np.array(0)),
        ("csr", "indices", np.array(0)),
        ("csc", "data", np.array(1.0)),
        ("csr", "indptr", np.array([[0, 1]])),
        ("coo", "data", np.ones((1, 1))),
        ("dia", "offsets", np.array(0)),
        ("dia", "data", np.ones(3)),
        ("bsr", "indptr", np.array([[0]])),
    ],
)
def test_replaced_arrays_of_scipy_are_checked(format: str, name: str, array: Any) -> None:
    data = scipy.sparse.csr_array(random_sparse(5, 7).numpy()).asformat(format)
    setattr(data, name, array)
    with pytest.raises(tulle.UserError, match=f"'{name}' of the SciPy {format} matrix has"):
        tulle.tensor(data)


@pytest.mark.parametrize("format", [one for one in FORMATS if one != "bitmap"])
def test_written_structure_is_refused_everywhere(format: str) -> None:
    tensor = sparse(format)
    tensor @ random_dense(7, 3)
    permuted, converted = tensor.T, tensor.to(torch.float32)
    tensor.pattern.arrays[0].copy_(tensor.pattern.arrays[0].clone())
    for one in (tensor, permuted, tensor.T, tensor.permute(1, 0), converted, tensor.T.T):
        refuse_all(one, WRITTEN)
    with pytest.raises(tulle.UserError, match=WRITTEN):
        tulle.tensor(tensor, index_dtype=torch.int32) @ random_dense(7, 3)
    for part in tensor.parts():
        if part.pattern.arrays and part.pattern.arrays[0] is tensor.pattern.arrays[0]:
            refuse_all(part, WRITTEN)


def test_other_memory_for_an_array_is_noticed() -> None:
    for swap in ("data", "set_", "resize_"):
        tensor = sparse()
        x = random_dense(7, 3)
        for _ in range(2):
            tensor @ x
        crd = tensor.pattern.arrays[1]
        if swap == "data":
            crd.data = torch.full_like(crd, FAR)
        elif swap == "set_":
            crd.set_(torch.full_like(crd, FAR))
        else:
            crd.resize_(10**6)
        with pytest.raises(tulle.UserError):
            tensor @ x


OTHER_MEMORY: dict[str, Callable[[torch.Tensor], object]] = {
    "data": lambda array: setattr(array, "data", torch.full_like(array, FAR)),
    "set_": lambda array: array.set_(torch.full_like(array, FAR)),
    "resize_": lambda array: array.resize_(10**6),
    "a smaller storage": lambda array: array.untyped_storage().resize_(8),
    "no storage": lambda array: array.untyped_storage().resize_(0),
}
MADE: dict[str, Callable[[], tulle.SparseTensor]] = {
    "import": sparse,
    "used": lambda: (lambda made: (made.sum(1), made)[1])(sparse()),
    "product": lambda: tulle.tensor(random_sparse(5, 5)) @ sparse(),
    "union": lambda: sparse() + sparse(),
    "conversion": lambda: sparse().to(format="dcsr"),
    "slice": lambda: sparse()[:, :6],
    "transpose": lambda: sparse().T.T,
    "copy": lambda: copy.deepcopy(sparse()),
    "file": lambda: pickle.loads(pickle.dumps(sparse())),
    "composite": lambda: sparse("hyb(2,2)"),
}


def further_uses(tensor: tulle.SparseTensor) -> list[Callable[[], object]]:
    """Computations that begin with a structure derived from that of the tensor."""
    batch = torch.stack([tensor.values()] * 2)
    return [
        lambda: tensor.permute(1, 0) @ random_dense(tensor.shape[0], 3),
        lambda: tulle.tensor(tensor, index_dtype=torch.int32).to_dense(),
        lambda: tensor[1:3].to_dense(),
        lambda: torch.func.vmap(lambda values: tensor.with_values(values).sum(0))(batch),
    ]


@pytest.mark.parametrize("made", list(MADE))
@pytest.mark.parametrize("change", list(OTHER_MEMORY))
def test_other_memory_for_an_array_of_any_tensor_is_noticed(change: str, made: str) -> None:
    for use in range(len(uses(sparse())) + len(further_uses(sparse()))):
        tensor = MADE[made]()
        OTHER_MEMORY[change](max(tensor.pattern.arrays, key=len))
        with pytest.raises(tulle.UserError):
            (uses(tensor) + further_uses(tensor))[use]()


def test_storage_that_was_shrunk_is_refused() -> None:
    def shrunk(tensor: torch.Tensor) -> torch.Tensor:
        whole = tensor.clone(memory_format=torch.preserve_format)
        whole.untyped_storage().resize_(8)
        return whole

    tensor, x, out = sparse(), random_dense(7, 3), torch.zeros(5, 3, dtype=torch.float64)
    head = torch.tensor([ops.number(KEY), 5, 7])
    pos, crd = tensor.pattern.arrays
    arguments = [pos, crd, tensor.values(), x]
    calls: list[Callable[[], object]] = [
        lambda: tulle.from_levels("csr", (5, 7), [{}, {"pos": pos, "crd": shrunk(crd)}], x[:, 0]),
        lambda: tensor.with_values(shrunk(tensor.values())) @ x,
        lambda: tensor @ shrunk(x),
        lambda: tensor @ shrunk(random_dense(3, 7).T),
        lambda: torch.mm(tensor, x, out=shrunk(out)),
    ]
    tensor @ x
    for call in calls:
        with pytest.raises(tulle.UserError, match="storage of a tensor has 8 bytes"):
            call()
    for at in range(4):
        wrong = [*arguments[:at], shrunk(arguments[at]), *arguments[at + 1 :]]
        for operator in (ops.call4, lambda head, *tensors: ops.run(head, list(tensors))):
            with pytest.raises(RuntimeError, match="storage of a tensor has 8 bytes"):
                operator(head, *wrong)
    with pytest.raises(RuntimeError, match="storage of a tensor has 8 bytes"):
        ops.call4(shrunk(head), *arguments)


@pytest.mark.parametrize("source", ["numpy", "dlpack", "inference"])
def test_leaves_with_unseen_writers_are_copied(source: str) -> None:
    leaves, spec = pytree.tree_flatten(sparse())
    if source == "inference":
        with torch.inference_mode():
            leaves[1] = leaves[1].clone()
        writer = leaves[1]
    elif source == "numpy":
        memory = leaves[1].numpy().copy()
        leaves[1], writer = torch.from_numpy(memory), memory
    else:
        memory = leaves[1].numpy().copy()
        leaves[1], writer = torch.from_dlpack(memory), memory
    tensor = pytree.tree_unflatten(leaves, spec)
    with torch.inference_mode():
        writer[:] = FAR
    assert_equal(tensor.to_dense(), random_sparse(5, 7))


def test_leaves_that_share_memory_are_copied() -> None:
    leaves, spec = pytree.tree_flatten(sparse().to(torch.int64))
    leaves[2] = leaves[1].data
    tensor = pytree.tree_unflatten(leaves, spec)
    tensor.mul_(FAR)
    assert int(tensor.coordinates().max()) < 7
    assert tensor.to_dense().sum() == tensor.values().sum()


def test_formats_of_another_rank_are_refused() -> None:
    crow, col = torch.tensor([[0, 0]]), torch.tensor([], dtype=torch.int64)
    batch = torch.sparse_csr_tensor(crow, col, torch.ones(0), (1, 3), check_invariants=False)
    with pytest.raises(tulle.UserError, match=r"of rank 3, but the shape \[1, 3\]"):
        tulle.tensor(batch)
    arrays = (torch.tensor([0, 1]), torch.tensor([2]))
    pattern = Pattern(tulle.Format("csr", 3), (1, 3), arrays, torch.int64)
    refuse_all(tulle.SparseTensor(pattern, torch.ones(1, dtype=torch.float64)), "rank|dimension")


def test_levels_are_other_tensors() -> None:
    tensor = sparse()
    tensor @ random_dense(7, 3)
    level = tensor.levels()[1]
    level["crd"].data = torch.full_like(level["crd"], FAR)
    assert_equal(tensor @ torch.eye(7, dtype=torch.float64), random_sparse(5, 7))
    tensor.levels()[1]["crd"][0] = FAR
    refuse_all(tensor, WRITTEN)


def test_levels_of_inference_mode_are_copies() -> None:
    with torch.inference_mode():
        tensor = sparse() @ tulle.tensor(random_sparse(7, 7))
        expected = tensor.to_dense().clone()
        tensor.levels()[1]["crd"].fill_(FAR)
        torch.testing.assert_close(tensor.to_dense(), expected)


@pytest.mark.parametrize("format", FORMATS)
def test_values_that_do_not_fit_are_refused(format: str) -> None:
    tensor = sparse(format)
    x = random_dense(7, 3)
    tensor @ x
    values = tensor.values()
    wrong = [values[:-1], torch.cat([values, values]), values.reshape(-1, 1), values[:0]]
    wrong += [values.repeat_interleave(2)[::2], values.to("meta"), values.to(torch.complex64)]
    for one in wrong:
        with pytest.raises((tulle.UserError, tulle.Unsupported)):
            tulle.SparseTensor(tensor.pattern, one) @ x
    with pytest.raises(tulle.UserError, match="dense tensor"):
        tensor.with_values(values.to_sparse())
    values.resize_(max(values.numel() - 1, 0))
    with pytest.raises(tulle.UserError):
        tensor @ x


def test_patterns_from_callers_are_checked_before_their_first_use() -> None:
    pos, crd = torch.tensor([0, 1, 2]), torch.tensor([0, FAR])
    pattern = Pattern(tulle.Format("csr", 2), (2, 2), (pos, crd), torch.int64)
    tensor = tulle.SparseTensor(pattern, torch.ones(2, dtype=torch.float64))
    refuse_all(tensor, "is outside")
    refuse_all(tensor.T, "is outside")


# ---- operators and graphs ------------------------------------------------------------------------

ops = torch.ops.tulle
KEY = "operand A f64 i64 2 csr\noperand B f64 i64 2 dense\ncompute\nC[i,k] = A[i,j] * B[j,k]"
SELECT = "(i,j) -> (i: compressed nonunique, j: singleton)"


def wrong_arguments() -> list[tuple[list[int], list[torch.Tensor]]]:
    """Sizes and tensors that do not fit KEY."""
    tensor = sparse()
    pos, crd = tensor.pattern.arrays
    values, b = tensor.values(), random_dense(7, 3)
    descending = pos.clone()
    descending[1] = pos[-1] + 1
    return [
        ([5, 7], [pos, crd + FAR, values, b]),
        ([5, 7], [pos, crd - 100, values, b]),
        ([5, 7], [descending, crd, values, b]),
        ([5, 7], [pos - 1, crd, values, b]),
        ([5, 2], [pos, crd, values, b[:2]]),
        ([5, -7], [pos, crd, values, b]),
        ([4, 7], [pos, crd, values, b]),
    ]


def calls_of(sizes: list[int], tensors: list[torch.Tensor]) -> list[Callable[[], object]]:
    """Calls of the operators that take structure."""
    vector = torch.tensor(sizes)
    head = torch.tensor([ops.number(KEY), *sizes])
    out = torch.zeros(5, 3, dtype=torch.float64)
    spec = "f64 i64 2 csr"
    count = tensors[2].numel()
    return [
        lambda: ops.call4(head, *tensors),
        lambda: ops.into4(head, out, *tensors),
        lambda: ops.run(head, tensors),
        lambda: ops.run_into(head, tensors, [0], [out]),
        lambda: ops.compute(KEY, sizes, tensors),
        lambda: ops.explain(KEY, vector, tensors),
        lambda: ops.candidates(KEY, vector, tensors),
        lambda: ops.keep_schedule(KEY, vector, tensors, "", 1.0, 1.0, ""),
        lambda: ops.hold_structure(0, 1, spec, vector, tensors[:2], count),
        lambda: ops.hold_structure(7, 1, spec, vector, tensors[:2], count),
    ]


def test_operators_check_structure() -> None:
    for sizes, tensors in wrong_arguments():
        for call in calls_of(sizes, tensors):
            with pytest.raises(RuntimeError, match=r"tulle\.UserError"):
                call()


def test_select_parts_checks_structure() -> None:
    pos, crd = torch.tensor([0, 2]), torch.tensor([0, FAR])
    with pytest.raises(RuntimeError, match="expected 3 tensors, but found 0"):
        ops.select_parts("hyb(2,2)", "f64 i64 2 csr", torch.tensor([5, 7]), [])
    with pytest.raises(RuntimeError, match=r"tulle\.UserError"):
        ops.select_parts(
            "hyb(2,2)",
            "f64 i64 2 coo",
            torch.tensor([5, 7]),
            [pos, crd, crd, torch.ones(2).double()],
        )


def test_operators_notice_written_structure() -> None:
    tensor = sparse()
    x = random_dense(7, 3)
    tensor @ x  # the library holds the structure
    arrays = [*tensor.pattern.arrays]
    ops.compute(KEY, [5, 7], [*arrays, tensor.values(), x])
    arrays[1][0] = FAR
    with pytest.raises(RuntimeError, match="is outside"):
        ops.compute(KEY, [5, 7], [*arrays, tensor.values(), x])


def test_structures_are_not_found_by_chance() -> None:
    tensor = sparse()
    tensor @ random_dense(7, 3)
    head = [ops.number(KEY), 5, 7]
    for number in (*range(100), *(tensor.pattern.structure + at for at in (-1, 1))):
        with pytest.raises(RuntimeError, match="There is no structure"):
            ops.call2(torch.tensor([*head, ~number]), tensor.values(), random_dense(7, 3))
    other = torch.tensor([head[0], 7, 5, ~tensor.pattern.structure])
    with pytest.raises(RuntimeError, match="sizes are not those of the structure"):
        ops.call2(other, tensor.values(), random_dense(5, 3))
    csc = ops.number(KEY.replace("csr", "csc"))
    with pytest.raises(RuntimeError, match="expected a structure in the format"):
        ops.call2(
            torch.tensor([csc, 5, 7, ~tensor.pattern.structure]),
            tensor.values(),
            random_dense(7, 3),
        )


def test_keys_name_the_owner_of_a_structure() -> None:
    for owner in ("Z", "A"):
        key = f"operand A f64 i64 2 like={owner} csr\ncompute\ny[i] = A[i,j]"
        with pytest.raises(RuntimeError, match=r"tulle\.UserError"):
            ops.number(key)


def test_trust_is_given_once() -> None:
    with pytest.raises(RuntimeError, match="trust token was taken"):
        ops.take_trust()


def test_compiled_and_exported_programs_check_structure() -> None:
    class Product(torch.nn.Module):
        def forward(self, a: tulle.SparseTensor, x: torch.Tensor) -> torch.Tensor:
            return a @ x

    tensor, x = sparse(), random_dense(7, 3)
    exported = torch.export.export(Product(), (tensor, x)).module()
    compiled = torch.compile(Product(), fullgraph=True, backend="aot_eager")
    for module in (exported, compiled):
        torch.testing.assert_close(module(tensor, x), random_sparse(5, 7) @ x)
        for array in (0, 1):
            changed = [one.clone() for one in tensor.pattern.arrays]
            changed[array][-1] = FAR
            pattern = Pattern(tensor.format, (5, 7), tuple(changed), torch.int64)
            with pytest.raises((tulle.UserError, RuntimeError), match=r"UserError|outside|pos"):
                module(tulle.SparseTensor(pattern, tensor.values()), x)


# ---- threads and processes -----------------------------------------------------------------------


def test_threads_that_use_and_write_one_tensor() -> None:
    tensor = sparse()
    x = random_dense(7, 3)
    expected = random_sparse(5, 7) @ x
    wrong: list[object] = []
    stop = threading.Event()

    def use() -> None:
        for _ in range(150):
            try:
                torch.testing.assert_close(tensor @ x, expected)
                torch.testing.assert_close(tensor.T.T @ x, expected)
            except tulle.UserError as error:
                if WRITTEN not in str(error):
                    wrong.append(error)
            except Exception as error:
                wrong.append(error)

    def write() -> None:
        while not stop.wait(0.01):
            tensor.pattern.arrays[1].add_(0)  # the same elements

    users = [threading.Thread(target=use) for _ in range(10)]
    writers = [threading.Thread(target=write) for _ in range(2)]
    for thread in (*users, *writers):
        thread.start()
    for thread in users:
        thread.join()
    stop.set()
    for thread in writers:
        thread.join()
    assert wrong == []


def test_structure_that_moves_to_shared_memory() -> None:
    queue = torch.multiprocessing.get_context("fork").SimpleQueue()
    tensor, x = sparse("hyb(2,2)"), random_dense(7, 3)
    for _ in range(3):
        torch.testing.assert_close(tensor @ x, random_sparse(5, 7) @ x)
    queue.put(tensor)  # PyTorch moves the arrays to memory that processes share
    for _ in range(3):
        torch.testing.assert_close(tensor @ x, random_sparse(5, 7) @ x)
        torch.testing.assert_close(tensor.sum(1), random_sparse(5, 7).sum(1))
    torch.testing.assert_close(queue.get() @ x, random_sparse(5, 7) @ x)


def _product(tensor: tulle.SparseTensor, queue: Any) -> None:
    queue.put((tensor @ torch.eye(7, dtype=torch.float64)).tolist())


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_structure_in_workers(method: str) -> None:
    context = torch.multiprocessing.get_context(method)
    queue = context.SimpleQueue()
    tensor = sparse("hyb(2,2)")
    tensor @ random_dense(7, 3)
    workers = [context.Process(target=_product, args=(tensor, queue)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        assert queue.get() == random_sparse(5, 7).tolist()
        worker.join(60)
        assert worker.exitcode == 0


INTERRUPTED = """
import signal, torch, tulle

def stop(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, stop)
x = torch.rand(9, 9, dtype=torch.float64)
A = tulle.tensor(x * (x > 0.5))
interrupts = 0
for number in range(12):
    text = f"y[i] = {number}.5 + A[i,j] * A[i,j]"
    for delay in (0.001, 0.004, 0.02):
        signal.setitimer(signal.ITIMER_REAL, delay)
        try:
            tulle.compute(text, A=A)
            A.to(format=f"bsr({number % 3 + 1},2)") @ x
        except KeyboardInterrupt:
            interrupts += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    found = tulle.compute(text, A=A)
    torch.testing.assert_close(found, number + 0.5 + (A.to_dense() ** 2).sum(1))
print(interrupts)
"""


def test_interrupts_while_compiling() -> None:
    environment = {**os.environ, "TULLE_CACHE": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


@pytest.mark.parametrize("format", ["csr", "hyb(2,2)"])
def test_patterns_are_immutable(format: str) -> None:
    tensor = tulle.tensor(random_sparse(4, 4)).to(format=format)
    pattern: Any = tensor.pattern
    values = [tensor, pickle.loads(pickle.dumps(tensor)), tensor * 2, tensor @ tensor, tensor.T]
    for one in values:
        names = {name for kind in type(one.pattern).__mro__ for name in vars(kind)}
        for name in [*(name for name in names if not name.startswith("__")), "anything"]:
            with pytest.raises(AttributeError, match="patterns are immutable"):
                setattr(one.pattern, name, getattr(pattern, name, None))
            with pytest.raises(AttributeError, match="patterns are immutable"):
                delattr(one.pattern, name)
    assert tensor.pattern is pattern


def test_no_argument_skips_the_check_of_a_pattern() -> None:
    pattern: Any = tulle.tensor(random_sparse(4, 4)).pattern
    arrays = tuple(array + 100 for array in pattern.arrays)
    parts = (pattern.format, pattern.shape, arrays, pattern.index_dtype)
    with pytest.raises(TypeError, match="is_checked"):
        type(pattern)(*parts, is_checked=True)
    made = tulle.SparseTensor(type(pattern)(*parts), torch.ones(len(arrays[1])))
    with pytest.raises(tulle.UserError):
        made @ torch.ones(4)
