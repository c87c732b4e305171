"""Prepares Dynamo, the tracer of torch.compile, for sparse tensors as soon as it is imported.

Importing torch._dynamo takes a second, so this package does not import it.
"""

from __future__ import annotations

import importlib.util
import operator
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import BuiltinFunctionType, ModuleType
from typing import Any

from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils import _pytree as pytree

from tulle.programs import dynamo_buffers, dynamo_guards
from tulle.tensors import graph_boundary
from tulle.tensors.sparse_tensor import SparseTensor
from tulle.tensors.torch_dispatch import handlers

_MODULE = "torch._dynamo"


def register() -> None:
    """Prepares Dynamo now if it is imported, else when it is."""
    if _MODULE in sys.modules:
        _prepare()
    else:
        sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    """Finds torch._dynamo as Python does, and prepares it once it is loaded."""

    is_searching = False

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != _MODULE or self.is_searching:
            return None
        self.is_searching = True
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def load_and_prepare(module: ModuleType) -> None:
            sys.meta_path.remove(self)
            load(module)
            _prepare()

        loader: Any = spec.loader
        loader.exec_module = load_and_prepare
        return spec


def _prepare() -> None:
    import torch._dynamo
    from torch._dynamo.variables import builtin, torch_function
    from torch._dynamo.variables import torch as torch_functions

    dynamo_buffers.prepare()
    dynamo_guards.prepare()
    graph_boundary.opaque_call = torch._dynamo.nonstrict_trace(graph_boundary._opaque_call)
    # Dynamo reads `A @ B`, where A is no tensor of torch but has __torch_function__, as
    # Tensor.__matmul__(B, A). With the reversed method it calls Tensor.__rmatmul__(B, A).
    builtin.populate_builtin_to_tensor_fn_map()
    builtin.BUILTIN_TO_TENSOR_RFN_MAP.setdefault(operator.matmul, Tensor.__rmatmul__)
    # Dynamo has no rule for `A @ B` if neither is a tensor of torch.
    builtin.BuiltinVariable.call_matmul = _call_matmul
    # Nor for `~A`.
    builtin.BuiltinVariable.call_invert = _call_invert
    # torch.export with strict=True passes operators of Python to __torch_function__, which looks
    # for their names. Dynamo of torch 2.11 has no names for them.
    builtin.BuiltinVariable.var_getattr = _with_names(builtin.BuiltinVariable.var_getattr)
    # Dynamo asks __torch_function__ for functions in a list, which has few of torch.sparse.
    torch_functions.get_overridable_functions().update(filter(_is_of_torch, handlers))
    # Dynamo finds objects with __torch_function__ in lists, but not in tuples: torch.cat((A, B)).
    if flatten := getattr(torch_function, "_flatten_vts", None):
        torch_function._flatten_vts = _with_tuples(flatten)
    _let_strict_export_pass()


def _is_of_torch(function: Any) -> bool:
    """Whether it is a function of torch, and no operator of Python."""
    return getattr(function, "__module__", None) != "_operator"


def _let_strict_export_pass() -> None:
    """torch.export with strict=True asks for a tensor without memory in place of each attribute of
    a graph. One attribute describes the arguments of the opaque call, and is no tensor."""
    make_fake = FakeTensorMode.from_tensor

    def from_tensor(mode: FakeTensorMode, tensor: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(tensor, pytree.TreeSpec):
            return tensor
        return make_fake(mode, tensor, *args, **kwargs)

    FakeTensorMode.from_tensor = from_tensor


def _call_matmul(_: Any, tx: Any, left: Any, right: Any) -> Any:
    """`left @ right` by the method of the left operand, if that is an object with such a method.
    Dynamo cannot follow the `__matmul__` of a sparse tensor that the graph computes, because that
    function is a closure. It can follow `matmul`."""
    from torch._dynamo.variables import UserDefinedObjectVariable

    if isinstance(left, UserDefinedObjectVariable):
        is_sparse = issubclass(left.value_type, SparseTensor)
        return left.call_method(tx, "matmul" if is_sparse else "__matmul__", [right], {})
    return None


def _with_tuples(flatten: Callable[..., Any]) -> Callable[..., Any]:
    """Dynamo's function that takes lists apart, for tuples, too."""

    def flatten_tuples(variables: Iterable[Any]) -> list[Any]:
        from torch._dynamo.variables import TupleVariable

        found = []
        for variable in flatten(variables):
            inner = variable.realize() if variable.is_realized() else variable
            if isinstance(inner, TupleVariable):
                found += flatten_tuples(inner.items)
            else:
                found.append(variable)
        return found

    return flatten_tuples


def _with_names(get: Callable[..., Any]) -> Callable[..., Any]:
    """Dynamo's function that reads attributes of built-in functions, for their names, too."""

    def var_getattr(function: Any, tx: Any, name: str) -> Any:
        from torch._dynamo.variables import ConstantVariable

        if name == "__name__" and isinstance(function.fn, BuiltinFunctionType):
            return ConstantVariable.create(function.fn.__name__)
        return get(function, tx, name)

    return var_getattr


def _call_invert(_: Any, tx: Any, operand: Any) -> Any:
    """`~operand` by the method of the operand, if that is an object with such a method."""
    from torch._dynamo.variables import UserDefinedObjectVariable

    if isinstance(operand, UserDefinedObjectVariable):
        return operand.call_method(tx, "__invert__", [], {})
    return None
