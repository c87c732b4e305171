"""Torch's interface to gradients. The gradient of a sparse tensor is that of its values: a tensor
like `values()`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from torch import Tensor

from tulle.support.errors import UserError
from tulle.tensors.stored_tensor import StoredTensor

if TYPE_CHECKING:
    from typing_extensions import Self


class GradientMethods(StoredTensor):
    """`requires_grad_`, `grad`, hooks and their kind. All of them act on the tensor that `values()`
    returns. Tensors that share it, such as the transpose, share its gradient."""

    __slots__ = ()

    @property
    def requires_grad(self) -> bool:
        """Whether autograd records computations on the values."""
        return self._values.requires_grad

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self._values.requires_grad_(wanted)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Makes autograd record computations on the values, or stops it."""
        self._values.requires_grad_(requires_grad)
        return self

    @property
    def grad(self) -> Tensor | None:
        """The gradient with respect to `values()`, a tensor of the same size. None before the first
        backward pass."""
        return self._values.grad

    @grad.setter
    def grad(self, gradient: Any) -> None:
        own = gradient._values if isinstance(gradient, StoredTensor) else gradient
        self._values.grad = own

    @property
    def is_leaf(self) -> bool:
        """Whether the values are no result of a recorded computation."""
        return self._values.is_leaf

    @property
    def grad_fn(self) -> Any:
        """The node of autograd's graph that computed the values; None for a leaf."""
        return self._values.grad_fn

    @property
    def retains_grad(self) -> bool:
        """Whether `grad` of a tensor that is no leaf is kept."""
        return self._values.retains_grad

    def retain_grad(self) -> None:
        """Keeps the gradient of a tensor that is no leaf in `grad`."""
        self._values.retain_grad()

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Any:
        """Calls the function with each gradient of the values. The gradient that it returns takes
        the place of the given one."""
        return self._values.register_hook(hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> Any:
        """Calls the function with the values after a gradient was added to their `grad`."""
        return self._values.register_post_accumulate_grad_hook(hook)

    def backward(self, gradient: Any = None, *args: Any, **options: Any) -> None:
        """Computes the gradients of the leaves from which the values were computed. `gradient` is
        a tensor like `values()`, or a sparse tensor with the same pattern."""
        if isinstance(gradient, StoredTensor):
            if gradient._pattern is not self._pattern:
                raise UserError(
                    "backward: the gradient has another pattern than the tensor; give a tensor of "
                    "the size of values(), or A.with_values(gradient)."
                )
            gradient = gradient._values
        self._values.backward(gradient, *args, **options)

    def detach_(self) -> Self:
        """Removes the values from autograd's graph, in place."""
        self._values = self._values.detach()  # torch detaches no views in place
        return self

    @property
    def data(self) -> Self:
        """The same memory outside of autograd, like `detach()`."""
        return type(self)(self._pattern, self._values.data)

    # ---- parameters and buffers of modules -----------------------------------------------------

    def _refuse_parameter(self, _: object) -> NoReturn:
        raise UserError(
            "torch.nn.Parameter does not take sparse tensors: optimisers update dense tensors. "
            "tulle.nn.SparseParameter(A) is a module whose parameter is the values of A."
        )

    def _refuse_buffer(self, _: object) -> NoReturn:
        raise UserError(
            "torch.nn.Buffer does not take sparse tensors; write "
            'module.register_buffer("A", A), or module.A = tulle.nn.SparseBuffer(A).'
        )

    # torch.nn.Parameter and torch.nn.Buffer set these attributes on tensors of other classes.
    _is_param = property(None, _refuse_parameter)
    _is_buffer = property(None, _refuse_buffer)
    persistent = property(None, _refuse_buffer)
