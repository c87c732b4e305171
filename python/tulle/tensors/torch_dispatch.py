"""PyTorch's functions on sparse tensors: the table of handlers, and what happens without one.

`tulle.operators.torch_functions` fills the table.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import cache, wraps
from typing import Any, NoReturn

import torch
from torch import Tensor
from torch.compiler import is_compiling

from tulle.support import hints
from tulle.support.errors import Unsupported
from tulle.support.text import nearest
from tulle.tensors.written_results import written

Handler = Callable[..., Any]

# The handler of each function of torch.
handlers: dict[Any, Handler] = {}
# The same for calls without keywords that torch.compile does not trace, where that is faster.
quick_handlers: dict[Any, Handler] = {}
# Operators that are functions of Python by name: Dynamo does not find such functions in a table.
python_handlers: dict[str, Handler] = {}

# The names that NumPy gives to arguments. Torch accepts them, too.
_OF_NUMPY = {"axis": "dim", "keepdims": "keepdim", "x": "input", "x1": "input", "x2": "other"}


def dispatch(
    cls: type, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
) -> Any:
    """Computes `function(*args, **kwargs)`; at least one argument is a sparse tensor. This is
    `__torch_function__` of the class."""
    if not kwargs and not is_compiling():
        quick = quick_handlers.get(function)
        if quick is not None:
            return quick(*args)
    handler = None
    if is_compiling():
        handler = python_handlers.get(getattr(function, "__name__", ""))
    if handler is None:
        handler = handlers.get(function)
    if handler is None:
        _refuse(function)
    if not kwargs:
        return handler(*args)
    # Dynamo ignores caches, and warns of them.
    known = _keywords_of(handler) if is_compiling() else _keywords(handler)
    if known is not None and not kwargs.keys() <= known:
        kwargs = _by_names_of_torch(kwargs)
    out = None
    if "out" in kwargs and (known is None or "out" not in known):
        out = kwargs["out"]
        kwargs = {key: value for key, value in kwargs.items() if key != "out"}
    if known is not None and not kwargs.keys() <= known:
        _refuse(function, *(kwargs.keys() - known))
    result = handler(*args, **kwargs)
    return result if out is None else written(out, result)


def _refuse(function: Any, *keywords: str) -> NoReturn:
    name = _name_of(function)
    if keywords:
        raise Unsupported(f"{name} does not take {keywords[0]}= on sparse tensors.")
    raise Unsupported(f"{name} is not supported on sparse tensors. {_remedy(function)}")


def _remedy(function: Any) -> str:
    """What to do instead of calling the function of torch."""
    own = getattr(function, "__name__", str(function))
    module = str(getattr(function, "__module__", ""))
    if own.endswith("_") and not own.startswith("_"):
        return (
            "To change the stored values alone, pass A.values(), which shares the tensor's memory."
        )
    if own.startswith("linalg_") or own in _OF_MATRICES:
        return (
            "Tulle has no solvers and no decompositions: convert with to_dense(), or pass "
            "A.to_scipy() to scipy.sparse.linalg."
        )
    if module.startswith("torch.distributed"):
        return "Pass A.values(), which shares the tensor's memory."
    if own == "scaled_dot_product_attention":
        return (
            "Attention at the entries of a sparse mask is a statement with softmax(j in A[i,j], "
            "...), as in docs/cookbook.md; pass a dense mask as A.to_dense()."
        )
    if own == "embedding":
        return "Rows of a sparse matrix are A[index]."
    return (
        "Express it with tulle.compute or tulle.einsum, or convert with to_dense() or to_torch()."
    )


# Names of functions of torch.linalg that are in other modules, too.
_OF_MATRICES = (
    *("cholesky", "det", "inverse", "lobpcg", "logdet", "matrix_exp", "pca_lowrank", "pinverse"),
    *("qr", "slogdet", "_spsolve", "svd", "svd_lowrank", "triangular_solve"),
)


def _name_of(function: Any) -> str:
    """The name as a user writes it: "torch.linalg.solve". Some functions have a name only in their
    own module: "torch's all_reduce"."""
    own = getattr(function, "__name__", str(function))
    # Dynamo does not follow the search for the name.
    found = None if is_compiling() else torch.overrides.resolve_name(function)
    return found.replace("torch.functional.", "torch.") if found else f"torch's {own}"


def _by_names_of_torch(options: dict[str, Any]) -> dict[str, Any]:
    """The options by torch's names. An option that has both names keeps them, and is refused."""
    return {
        key if name in options else name: value
        for key, value in options.items()
        for name in [_OF_NUMPY.get(key, key)]
    }


def with_numpy_names(method: Handler) -> Handler:
    """The method, which also takes axis= and keepdims=."""

    @wraps(method)
    def call(self: Any, *args: Any, **options: Any) -> Any:
        if "axis" in options or "keepdims" in options:
            options = _by_names_of_torch(options)
        return method(self, *args, **options)

    return call


def _keywords_of(handler: Handler) -> frozenset[str] | None:
    """The names of the parameters. None if the handler takes any."""
    parameters = inspect.signature(handler).parameters
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()):
        return None
    return frozenset(parameters)


_keywords = cache(_keywords_of)


def missing_attribute(name: str, known: Iterable[str]) -> str:
    """The error message for an attribute that a sparse tensor does not have; `known` are those that
    it has."""
    missing = f"A sparse tensor has no attribute '{name}'"
    if name.startswith("_"):
        return f"{missing}."
    if name in hints.OF_TENSORS:
        return f"{missing}; write {hints.OF_TENSORS[name]}."
    known = frozenset(known)
    if not hasattr(Tensor, name):
        return f"{missing}{nearest(name, known)}"
    handler = handlers.get(getattr(torch, name, None))
    if handler is not None:
        return f"{missing}; write torch.{name}({', '.join(_required_arguments(handler))})."
    if name.endswith("_") and name[:-1] in known:
        return (
            f"{missing}; it would change which elements are stored. Use the result of "
            f"{name[:-1]} instead, or change A.values()."
        )
    if name.endswith("_"):
        return (
            f"{missing} like torch's tensors; change the stored values, A.values(), or make "
            "another tensor of the changed A.to_dense()."
        )
    return f"{missing} like torch's tensors; convert with to_dense() or to_torch()."


def _required_arguments(handler: Handler) -> list[str]:
    """The arguments of a call as a user writes them: A, then the parameters without a default."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [
        parameter.name
        for parameter in inspect.signature(handler).parameters.values()
        if parameter.default is inspect.Parameter.empty and parameter.kind in kinds
    ]
    return ["A", *needed[1:]]
