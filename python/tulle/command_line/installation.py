"""The installation: versions, the machine, the GPU, the kernels on disk."""

from __future__ import annotations

import os
import platform

import torch

from tulle.library import bindings
from tulle.library.loading import library_folder
from tulle.tuning import store


def facts() -> dict[str, str]:
    """What `python -m tulle info` prints."""
    directory = store.cache_directory()
    kernels, size = kernels_on_disk()
    return {
        "tulle": bindings.version,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": _processor(),
        "threads": f"{torch.get_num_threads()} of {os.cpu_count()}",
        "gpu": _gpu(),
        "libraries": str(library_folder()),
        "cache": str(directory) if directory else "none (TULLE_CACHE=0, or no home directory)",
        "kernels": f"{kernels} entries, {size / 2**20:.1f} MiB",
        "tuned plans": str(len(store.tuned_plans())),
    }


def kernels_on_disk(remove: bool = False) -> tuple[int, int]:
    """The number of entries with kernels and their programs on disk, and their size in bytes."""
    directory = store.cache_directory()
    count = size = 0
    for path in directory.glob("*.o") if directory else ():
        try:
            size += path.stat().st_size
            count += 1
            if remove:
                path.unlink()
        except OSError:
            continue  # another process removed it first
    return count, size


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [
                line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")
            ]
    except OSError:
        names = []
    capability = torch.backends.cpu.get_cpu_capability()
    return f"{names[0] if names else platform.processor()}, {capability}"


def _gpu() -> str:
    if not torch.cuda.is_available():
        return "none" if torch.backends.cuda.is_built() else "none (this PyTorch has no CUDA)"
    found = []
    for number in range(torch.cuda.device_count()):
        major, minor = torch.cuda.get_device_capability(number)
        found.append(f"{torch.cuda.get_device_name(number)} (sm_{major}{minor})")
    return ", ".join(found)
