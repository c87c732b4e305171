"""Methods of sparse tensors that torch's tensors have under the same names, as tables."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from torch import Tensor

from tulle.operators import element_statistics as statistics
from tulle.operators import (
    equality,
    further_products,
    further_structure,
    lookups,
    masks,
    matrix_products,
    pointwise,
    sorting,
)
from tulle.operators.in_place import METHODS_IN_PLACE
from tulle.operators.pointwise_table import METHODS, OPERATORS, REVERSED
from tulle.tensors.sparse_tensor import SparseTensor
from tulle.tensors.torch_dispatch import Handler, with_numpy_names

# The reductions that consist of others.
REDUCTIONS: dict[str, Handler] = {
    "any": statistics.any_,
    "all": statistics.all_,
    "count_nonzero": statistics.count_nonzero,
    "nansum": statistics.nansum,
    "nanmean": statistics.nanmean,
    "max": statistics.max_,
    "min": statistics.min_,
    "aminmax": statistics.aminmax,
    "norm": statistics.norm,
    "var": statistics.var,
    "std": statistics.std,
    "sort": sorting.sort,
    "argsort": sorting.argsort,
    "topk": sorting.topk,
}
PRODUCTS: dict[str, Handler] = {
    "addmm": matrix_products.add_product,
    "addmv": matrix_products.add_vector_product,
    "baddbmm": matrix_products.add_batch_product,
    "addbmm": matrix_products.add_sum_of_products,
    "addr": matrix_products.add_outer_product,
    "addcmul": matrix_products.addcmul,
    "addcdiv": matrix_products.addcdiv,
    "dot": further_products.dot,
    "vdot": further_products.vdot,
    "inner": further_products.inner,
    "outer": further_products.outer,
    "ger": further_products.outer,
    "matrix_power": further_products.matrix_power,
    "smm": matrix_products.sparse_product,
    "sspaddmm": matrix_products.add_sparse_product,
}
LOOKUPS: dict[str, Handler] = {
    "gather": lookups.gather,
    "take": lookups.take,
    "take_along_dim": lookups.take_along_dim,
    "index_fill": lookups.index_fill,
    "unique": lookups.unique,
}
STRUCTURE: dict[str, Handler] = {
    "diff": further_structure.diff,
    "repeat_interleave": further_structure.repeat_interleave,
    "hsplit": further_structure.hsplit,
    "vsplit": further_structure.vsplit,
    "dsplit": further_structure.dsplit,
    "diagflat": further_structure.diagflat,
    "sum_to_size": further_structure.sum_to_size,
}
MASKS_AND_EQUALITY: dict[str, Handler] = {
    "masked_fill": masks.masked_fill,
    "sparse_mask": masks.sparse_mask,
    "nonzero": masks.nonzero,
    "argwhere": masks.nonzero,
    "equal": equality.equal,
    "allclose": equality.allclose,
    "dist": statistics.dist,
    "is_same_size": equality.is_same_size,
    "prelu": pointwise.prelu,
}
# The handlers that are functions of torch, too.
FUNCTIONS_AND_METHODS = {**REDUCTIONS, **PRODUCTS, **MASKS_AND_EQUALITY, **LOOKUPS, **STRUCTURE}


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
        _add(name, with_numpy_names(handler))
    for table in (METHODS_IN_PLACE, PRODUCTS, MASKS_AND_EQUALITY, LOOKUPS, STRUCTURE):
        for name, handler in table.items():
            _add(name, handler)
    _add("where", masks.where_method)
    _add("polygamma", lambda self, n: pointwise.polygamma(n, self))
    _add("__invert__", _invert)
    _add("__contains__", equality.contains)
    _add("__abs__", pointwise.method("abs"))
    for name, method in _with_dimensions().items():
        setattr(SparseTensor, name, with_numpy_names(method))


def _with_dimensions() -> dict[str, Handler]:
    """The methods that take a dimension as dim=, except `size`, which programs call often."""
    found: dict[str, Handler] = {}
    for base in reversed(SparseTensor.__mro__):
        for name, method in vars(base).items():
            if isinstance(method, FunctionType) and not name.startswith("_"):
                code = method.__code__
                if "dim" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
                    found[name] = method
                else:
                    found.pop(name, None)
    del found["size"]
    return found


def _add(name: str, function: Handler) -> None:
    """Adds a method. Without documentation of its own it has that of torch's method."""
    if function.__doc__ is None:
        function.__doc__ = getattr(getattr(Tensor, name, None), "__doc__", None)
    setattr(SparseTensor, name, function)
