"""Values of one structure do not meet values of another one.

An entry of a vector of values belongs to a coordinate. Optimisers keep such vectors as their state,
and moving averages combine the vectors of two modules. Both see vectors only, so after a change of
the structure they would combine values of different coordinates.
"""

from __future__ import annotations

import weakref
from functools import wraps
from typing import Any

from torch import nn
from torch.optim import Optimizer
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from torch.optim.swa_utils import AveragedModel

from tulle.nn.structures import fingerprint
from tulle.support.errors import UserError
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor

# In the state of an optimiser: the structure to which the state of a parameter belongs.
_KEY = "structure"


class StructureHolder(nn.Module):
    """The base of modules with a `pattern` and values, the parameter or buffer `weight`."""

    _pattern: Pattern

    @property
    def pattern(self) -> Pattern:
        """The structure."""
        return self._pattern

    def watch(self) -> None:
        """Makes optimisers of `weight` check the structure."""
        _holders.add(self)

    def take_structure(self, pattern: Pattern) -> None:
        """Gets another structure. The values become 0."""
        held = self._parameters.get("weight", self._buffers.get("weight"))
        assert held is not None
        device = held.device
        self.replace_structure(pattern.with_each(lambda array: array.to(device, copy=True)))
        held.data = held.new_zeros(pattern.count_slots())

    def replace_structure(self, pattern: Pattern) -> None:
        """Gets another structure. The gradient, which belongs to the previous one, is dropped."""
        self._pattern = pattern
        weight = self._parameters.get("weight")
        if weight is not None:
            weight.grad = None


_holders: weakref.WeakSet[StructureHolder] = weakref.WeakSet()


def register() -> None:
    """Makes optimisers and `AveragedModel` check structures."""
    register_optimizer_step_pre_hook(_check_state)
    register_optimizer_step_post_hook(_note_structures)
    update = AveragedModel.update_parameters

    @wraps(update)
    def update_parameters(self: AveragedModel, model: nn.Module) -> None:
        _check_averages(self, model)
        update(self, model)

    AveragedModel.update_parameters = update_parameters


# ---- optimisers ----------------------------------------------------------------------------------


def _states(optimizer: Optimizer) -> list[tuple[StructureHolder, dict[str, Any]]]:
    """The modules of which the optimiser has a state."""
    found = []
    for module in list(_holders):
        weight = module._parameters.get("weight")
        state = None if weight is None else optimizer.state.get(weight)
        if state:
            found.append((module, state))
    return found


def _check_state(optimizer: Optimizer, args: Any, options: Any) -> None:
    for module, state in _states(optimizer):
        if state.get(_KEY) not in (None, fingerprint(module.pattern)):
            raise UserError(
                f"{type(optimizer).__name__}: load_state_dict changed the structure of "
                f"{module!r}, but the state of the optimiser belongs to the entries of the "
                "previous structure. Load the state of the optimiser that was saved with the "
                "structure, or drop it: optimizer.state.pop(module.weight)."
            )


def _note_structures(optimizer: Optimizer, args: Any, options: Any) -> None:
    for module, state in _states(optimizer):
        state[_KEY] = fingerprint(module.pattern)


# ---- moving averages -----------------------------------------------------------------------------


def _check_averages(average: AveragedModel, model: nn.Module) -> None:
    """Before the first update, an average takes over the structures of the model. Afterwards they
    must agree. Sparse buffers, which are not averaged, are copied with their structure."""
    buffers = zip(average.module.named_buffers(), model.buffers(), strict=False)
    for (name, copied), given in buffers:
        if not isinstance(copied, SparseTensor):
            continue
        if average.use_buffers:
            raise UserError(
                f"AveragedModel: the buffer {name} is a sparse tensor, which use_buffers=True does "
                "not average; make it a module: tulle.nn.SparseBuffer(A)."
            )
        copied.copy_(given)
    for own, other in zip(_holders_in(average.module), _holders_in(model), strict=False):
        if own is other or fingerprint(own.pattern) == fingerprint(other.pattern):
            continue
        if bool(average.n_averaged == 0):
            own.take_structure(other.pattern)
            continue
        raise UserError(
            f"AveragedModel: the structures of {own!r} in the average and of {other!r} in the "
            "model differ, so their values belong to different entries. Make a new AveragedModel "
            "of the model, or load the state of the average that was saved with the model."
        )


def _holders_in(model: nn.Module) -> list[StructureHolder]:
    return [module for module in model.modules() if isinstance(module, StructureHolder)]
