"""The registered operators, called directly."""

from __future__ import annotations

import gc
import resource

import pytest
import torch
from helpers import random_dense, random_sparse

import tulle  # registers the operators

ops = torch.ops.tulle
KEY = """operand A f64 i64 2 csr
operand B f64 i64 2 dense
compute
C[i,k] = A[i,j] * B[j,k]"""

SPEC = "f64 i64 2 csr"


def parts() -> tuple[torch.Tensor, list[torch.Tensor], torch.Tensor]:
    """Sizes, tensors and the expected result of KEY."""
    a, b = random_sparse(5, 4), random_dense(4, 3)
    csr = a.to_sparse_csr()
    tensors = [csr.crow_indices(), csr.col_indices(), csr.values(), b]
    return torch.tensor([5, 4]), tensors, a @ b


def head_of(key: str, sizes: torch.Tensor) -> torch.Tensor:
    """The number of the program, then the sizes."""
    return torch.cat([torch.tensor([ops.number(key)]), sizes])


def test_call_returns_the_values_of_a_dense_result() -> None:
    sizes, tensors, expected = parts()
    torch.testing.assert_close(ops.call4(head_of(KEY, sizes), *tensors), expected)


def test_run_returns_sizes_and_values() -> None:
    sizes, tensors, expected = parts()
    shape, values = ops.run(head_of(KEY, sizes), tensors)
    assert shape.tolist() == [5, 3]
    torch.testing.assert_close(values, expected)


def test_run_returns_shared_structure_as_the_operands_own_tensors() -> None:
    sizes, (pos, crd, values, _), _ = parts()
    key = "operand A f64 i64 2 csr\ncompute\nC[i,j] = A[i,j] * 3"
    shape, new_pos, new_crd, tripled = ops.run(head_of(key, sizes), [pos, crd, values])
    assert shape.tolist() == [5, 4]
    assert new_pos is pos
    assert new_crd is crd
    torch.testing.assert_close(tripled, values * 3)
    torch.testing.assert_close(ops.call3(head_of(key, sizes), pos, crd, values), values * 3)


def test_into_writes_to_the_tensor() -> None:
    sizes, tensors, expected = parts()
    out = torch.empty_like(expected)
    head = head_of(KEY, sizes)
    assert ops.into4(head, out, *tensors) is None
    torch.testing.assert_close(out, expected)
    with pytest.raises(RuntimeError, match=r"tulle.UserError: out: expected .* float64 \[5, 3\]"):
        ops.into4(head, out.T, *tensors)
    with pytest.raises(RuntimeError, match=r"tulle.UserError: No program has the number -1"):
        ops.into4(head.clamp(max=-1), out, *tensors)


def test_run_into_writes_to_the_tensors() -> None:
    sizes, tensors, expected = parts()
    out = torch.empty_like(expected)
    shape, values = ops.run_into(head_of(KEY, sizes), tensors, [0], [out])
    assert shape.tolist() == [5, 3]
    assert values is out
    torch.testing.assert_close(out, expected)
    for which, outs in (([1], [out]), ([-1], [out]), ([0, 0], [out]), ([0], [])):
        with pytest.raises(RuntimeError, match=r"tulle.UserError: Expected for each tensor"):
            ops.run_into(head_of(KEY, sizes), tensors, which, outs)


def test_dense_operands_need_not_be_row_major() -> None:
    sizes, tensors, expected = parts()
    tensors[3] = tensors[3].t().contiguous().t()
    torch.testing.assert_close(ops.call4(head_of(KEY, sizes), *tensors), expected)


def test_describe_names_results_and_where_their_sizes_come_from() -> None:
    assert ops.describe(KEY).splitlines() == ["C f64 i64 2 dense", "0.0 1.1 "]


def test_describe_format_lists_levels() -> None:
    assert ops.describe_format("(i,j) -> (i: dense, j: compressed)", 2).splitlines() == [
        "(i,j) -> (i: dense, j: compressed)",
        "csr",
        "0 0 0 1 1 0 0 0 w 1 -1",
        "1 1 0 0 0 0 0 1 w 1 -1",
    ]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("", "ends without"),
        ("operand A f64 i64 2 csr", "ends without"),
        ("operand A f64 i64 2\ncompute\nC[i] = A[i]", "expected a name, a type"),
        ("operand A f63 i64 2 csr\ncompute\nC = A", "'f63' is not an element type"),
        ("operand A f64 f64 2 csr\ncompute\nC = A", "positions and coordinates are"),
        ("operand A f64 i64 x csr\ncompute\nC = A", "'x' is not a rank"),
        ("operant A f64 i64 2 csr\ncompute\nC = A", "expected operand, out"),
        ("out C\ncompute\nC = A", "the name of a result and its format"),
        ("operand A f64 i64 1 dense\none 0 x\neinsum\ni->i", "not a dimension"),
        ("operand A f64 i64 1 dense\none 1 0\neinsum\ni->i", "a dimension that no operand has"),
    ],
)
def test_wrong_keys_are_refused(key: str, message: str) -> None:
    with pytest.raises(RuntimeError, match=rf"^tulle.UserError: .*{message}"):
        ops.describe(key)


@pytest.mark.parametrize("at", range(4))
def test_wrong_tensors_are_refused(at: int) -> None:
    sizes, tensors, _ = parts()
    for wrong in (tensors[at].to(torch.int32), tensors[at].reshape(-1, 1, 1)):
        given = [*tensors[:at], wrong, *tensors[at + 1 :]]
        with pytest.raises(RuntimeError, match=r"tulle.UserError: [AB]: expected a "):
            ops.call4(head_of(KEY, sizes), *given)


def test_wrong_numbers_of_tensors_and_sizes_are_refused() -> None:
    sizes, tensors, _ = parts()
    with pytest.raises(RuntimeError, match="takes 4 tensors, but 3 were given"):
        ops.call3(head_of(KEY, sizes), *tensors[:3])
    # An additional number could be that of a structure, which is negative.
    for wrong in ([5], [5, 4, 3], [5, 4, 0], [5, 4, 3, 2], [5, 4, -1, -1]):
        with pytest.raises(RuntimeError, match="vector of 2 int64 sizes, but found int64"):
            ops.run(head_of(KEY, torch.tensor(wrong)), tensors)
    numbered = ops.run(head_of(KEY, torch.tensor([*sizes.tolist(), ~0])), tensors)
    torch.testing.assert_close(numbered, ops.run(head_of(KEY, sizes), tensors))


def test_structures_that_are_held_need_no_arrays() -> None:
    sizes, (pos, crd, values, b), expected = parts()
    structure = ops.new_structure()
    head = torch.cat([head_of(KEY, sizes), torch.tensor([~structure])])
    with pytest.raises(RuntimeError, match=rf"UserError: There is no structure .* {structure}\."):
        ops.call2(head, values, b)
    ops.hold_structure(0, structure, SPEC, sizes, [pos, crd], values.numel())
    torch.testing.assert_close(ops.call2(head, values, b), expected)
    torch.testing.assert_close(ops.call4(head, pos, crd, values, b), expected)
    ops.release_structure(structure)
    with pytest.raises(RuntimeError, match=rf"UserError: There is no structure .* {structure}\."):
        ops.call2(head, values, b)


def test_held_structures_are_checked() -> None:
    sizes, (pos, crd, values, b), _ = parts()
    count = values.numel()
    for arrays, stored, message in (
        ([pos], count, "Expected a structure of 2 arrays"),
        ([pos.int(), crd], count, "expected a contiguous vector of int64"),
        ([pos[:-1], crd], count, "pos of level 1 has 5 elements, but 6 are needed"),
        ([pos, crd + 9], count, "is outside"),
        ([pos, crd], count + 1, "the array of values has"),
    ):
        with pytest.raises(RuntimeError, match=f"UserError: .*{message}"):
            ops.hold_structure(0, 1, SPEC, sizes, arrays, stored)
    structure = ops.new_structure()
    ops.hold_structure(0, structure, SPEC, sizes, [pos, crd], count)
    head = torch.cat([head_of(KEY, sizes), torch.tensor([~structure])])
    with pytest.raises(RuntimeError, match="UserError: A: the array of values has"):
        ops.call2(head, values[1:], b)
    ops.release_structure(structure)


def test_calls_leak_nothing() -> None:
    sizes, tensors, _ = parts()
    wrong = [*tensors[:3], tensors[3][:1]]

    def many() -> int:
        for _ in range(2000):
            head = head_of(KEY, sizes)
            ops.call4(head, *tensors)
            ops.run(head, tensors)
            with pytest.raises(RuntimeError):
                ops.call4(head, *wrong)
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    many()
    before = many()
    assert many() - before < 1024  # KiB; leaking a key of 80 bytes would take 500


def test_version_is_the_packages() -> None:
    assert ops.version() == tulle.__version__


@pytest.mark.parametrize(
    ("sizes", "lengths", "message"),
    [
        ([5, 4], (6, None, 3), "array of values has 3 elements"),
        ([5, 4], (5, None, None), "pos of level 1 has 5 elements, but 6 are needed"),
        ([5, 4], (6, 1, None), "values has . elements, but 1 are needed"),
        ([500, 4], (6, None, None), "pos of level 1 has 6 elements, but 501 are needed"),
        ([-1, 4], (6, None, None), "negative"),
    ],
)
def test_lengths_that_disagree_are_refused(
    sizes: list[int], lengths: tuple[int | None, ...], message: str
) -> None:
    _, tensors, _ = parts()
    given = [tensor[:length] for tensor, length in zip(tensors, lengths, strict=False)]
    with pytest.raises(RuntimeError, match=f"tulle.UserError: A: .*{message}"):
        ops.call4(head_of(KEY, torch.tensor(sizes)), *given, tensors[3])
