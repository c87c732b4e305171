"""The changes of structure by the names that methods use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.compiler import is_compiling

from tulle.restructuring.assigning import assigned
from tulle.restructuring.diagonals import diagonal, embedded_diagonal, trace, triangle
from tulle.restructuring.entries import needs_merging
from tulle.restructuring.joining import block_diagonal, joined, kronecker, stacked
from tulle.restructuring.pruning import pruned
from tulle.restructuring.reshaping import flipped, reshaped, rolled, tiled
from tulle.restructuring.selecting import indexed, masked_selected
from tulle.tensors.formats import Format
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.sparse_tensor import SparseTensor

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "index": indexed,
    "prune": pruned,
    "assign": assigned,
    "masked_select": masked_selected,
    "reshape": reshaped,
    "tile": tiled,
    "flip": flipped,
    "roll": rolled,
    "diagonal": diagonal,
    "diag_embed": embedded_diagonal,
    "triangle": triangle,
    "trace": trace,
    "cat": joined,
    "stack": stacked,
    "block_diag": block_diagonal,
    "kron": kronecker,
}


def restructure(name: str, *arguments: Any) -> Any:
    """The result of the function with this name."""
    if is_compiling():
        arguments = tuple([_merged_in_graph(argument) for argument in arguments])
    return _FUNCTIONS[name](*arguments)


def _merged_in_graph(argument: Any) -> Any:
    """A tensor that a change merges, as COO. In a graph the conversion is a call of its own."""
    if isinstance(argument, list):
        return [_merged_in_graph(item) for item in argument]
    if isinstance(argument, SparseTensor):
        pattern = argument._pattern
        if _is_merged(pattern._format_text, len(pattern.shape)):
            return argument.to(format="coo")
    return argument


@recorded
def _is_merged(format: str, rank: int) -> bool:
    return needs_merging(Format(format, rank))
