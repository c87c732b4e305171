"""Connects `SparseTensor` with the code above it; the package calls `install` when it is
imported."""

from __future__ import annotations

from tulle.interchange import exports
from tulle.operators import (
    arithmetic,
    conversions,
    dense_in_place,
    methods,
    reductions,
    torch_accessors,
    torch_functions,
    torch_testing,
)
from tulle.programs import dynamo, graph_derivatives
from tulle.restructuring.reading import count_entries, entries, has_padding
from tulle.restructuring.table import restructure
from tulle.tensors import collation, operations, trees
from tulle.tensors.formats import Format, check_takes_several_values
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.sparse_tensor import SparseTensor


@recorded
def _permuted_format(text: str, rank: int, order: tuple[int, ...]) -> str:
    return Format(text, rank).permuted(order)._text


@recorded
def _format_of_several_values(text: str, rank: int, dimensions: int) -> str:
    format = Format(text, rank)
    check_takes_several_values(format)
    for _ in range(dimensions):
        format = format.with_batch()
    return format._text


def install() -> None:
    """Sets the operations that methods call (`tensors.operations`), and registers sparse tensors
    with PyTorch's functions and trees."""
    operations.install(
        operations.Operations(
            matmul=arithmetic.matmul,
            matmul_into=arithmetic.matmul_into,
            binary=arithmetic.binary,
            reduce=reductions.reduce,
            softmax=reductions.softmax,
            convert_format=conversions.convert_format,
            permuted_format=_permuted_format,
            format_of_several_values=_format_of_several_values,
            restructure=restructure,
            entries=entries,
            count_entries=count_entries,
            has_padding=has_padding,
            to_torch=exports.to_torch,
            to_scipy=exports.to_scipy,
        )
    )
    # Skips the indirect call through `operations.installed`, which takes a tenth of the time of a
    # small product.
    SparseTensor.__matmul__ = arithmetic.sparse_matmul  # type: ignore[method-assign]
    methods.install()
    torch_functions.register()
    torch_accessors.register()
    dense_in_place.register()
    torch_testing.register()
    trees.register()
    collation.register()
    graph_derivatives.register()
    dynamo.register()
