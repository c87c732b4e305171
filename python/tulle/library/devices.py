"""The devices that Tulle computes on: the CPU and NVIDIA GPUs."""

from __future__ import annotations

import torch

from tulle.support.errors import Unsupported, UserError


def check(name: str, device: torch.device) -> None:
    """Raises Unsupported for any other device; `name` is what the message calls the tensor."""
    if device.type not in ("cpu", "cuda"):
        raise Unsupported(
            f"{name} is on the device '{device}'; Tulle computes on the CPU and on NVIDIA GPUs. "
            "Move it there with .to(device)."
        )


def check_present(device: torch.device) -> None:
    """Raises UserError for a GPU that this machine, or its build of PyTorch, does not have."""
    check("the tensor", device)
    if device.type == "cpu":
        return
    if not torch.backends.cuda.is_built():
        raise UserError(
            f"to: there is no device '{device}': this PyTorch was built without CUDA. Install a "
            "PyTorch with CUDA, or keep the tensor on the CPU."
        )
    count = torch.cuda.device_count()
    if count == 0 or (device.index or 0) >= count:
        raise UserError(
            f"to: there is no device '{device}': PyTorch finds {count or 'no'} GPUs on this "
            "machine."
        )
