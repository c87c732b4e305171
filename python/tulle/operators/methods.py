"""Methods of sparse tensors that torch's tensors have under the same names, as tables."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from tulle.operators import element_statistics as statistics
from tulle.operators import equality, masks, matrix_products, pointwise, sorting
from tulle.operators.in_place import METHODS_IN_PLACE
from tulle.operators.pointwise_table import METHODS, OPERATORS, REVERSED
from tulle.support.arguments import takes_numpy_names
from tulle.tensors.sparse_tensor import SparseTensor
from tulle.tensors.torch_dispatch import Handler

# The reductions that consist of others.
REDUCTIONS: dict[str, Handler] = {
    "any": statistics.any_,
    "all": statistics.all_,
    "count_nonzero": statistics.count_nonzero,
    "nansum": statistics.nansum,
    "nanmean": statistics.nanmean,
    "max": statistics.max_,
    "min": statistics.min_,
    "norm": statistics.norm,
    "var": statistics.var,
    "std": statistics.std,
    "sort": sorting.sort,
    "argsort": sorting.argsort,
    "topk": sorting.topk,
}
PRODUCTS: dict[str, Handler] = {
    "matrix_power": matrix_products.matrix_power,
    "dot": matrix_products.dot,
    "addmm": matrix_products.add_product,
    "addmv": matrix_products.add_product,
    "baddbmm": matrix_products.add_product,
    "addbmm": matrix_products.add_sum_of_products,
    "addr": matrix_products.add_outer_product,
    "addcmul": matrix_products.addcmul,
    "addcdiv": matrix_products.addcdiv,
}
MASKS_AND_EQUALITY: dict[str, Handler] = {
    "masked_fill": masks.masked_fill,
    "sparse_mask": masks.sparse_mask,
    "nonzero": masks.nonzero,
    "argwhere": masks.nonzero,
    "equal": equality.equal,
    "allclose": equality.allclose,
}


def _invert(self: Any) -> Any:
    return pointwise.method("bitwise_not")(self)


def install() -> None:
    """Adds the methods to the class."""
    for name in METHODS:
        _add(name, pointwise.method(name))
    for operator, name in OPERATORS.items():
        _add(operator, pointwise.operator_method(name))
    for operator, name in REVERSED.items():
        _add(operator, pointwise.operator_method(name, is_reversed=True))
    for name, handler in REDUCTIONS.items():
        _add(name, takes_numpy_names(handler))
    for table in (METHODS_IN_PLACE, PRODUCTS, MASKS_AND_EQUALITY):
        for name, handler in table.items():
            _add(name, handler)
    _add("where", masks.where_method)
    _add("__invert__", _invert)
    _add("__abs__", pointwise.method("abs"))


def _add(name: str, function: Handler) -> None:
    """Adds a method. Without documentation of its own it has that of torch's method."""
    if function.__doc__ is None:
        function.__doc__ = getattr(getattr(Tensor, name, None), "__doc__", None)
    setattr(SparseTensor, name, function)
