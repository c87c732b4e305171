"""Sparse tensors as buffers of modules that torch.compile traces."""

from __future__ import annotations

from typing import Any

from tulle.tensors.sparse_tensor import SparseTensor


def prepare() -> None:
    """Dynamo notes for each buffer of a module that its address stays the same, which CUDA graphs
    use. Of a sparse tensor it notes that for the arrays."""
    from torch._dynamo.variables.builder import VariableBuilder

    mark = VariableBuilder.mark_static_input

    def mark_static_input(builder: Any, value: Any, guard: bool) -> None:
        if not isinstance(value, SparseTensor):
            mark(builder, value, guard)
            return
        for tensor in (*value.pattern.arrays, value.values()):
            mark(builder, tensor, guard)

    VariableBuilder.mark_static_input = mark_static_input
