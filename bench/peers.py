"""The contenders of CSR times dense: a callable for each.

A contender that fills an existing result does not return a tensor or an array.
"""

from __future__ import annotations

import ctypes
import functools
import weakref
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import scipy.sparse
import torch
from graphs import Structure
from harness import Call
from twin import build

# The variants of the twin: whether it prefetches rows of B, whether it uses streaming stores.
TWIN_VARIANTS = {
    "plain": (False, False),
    "fetch": (True, False),
    "stream": (False, True),
    "fetch+stream": (True, True),
}
TWIN_WIDTHS = range(16, 257, 16)

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")

Calls = dict[str, Call]


@dataclass(frozen=True)
class Product:
    """The operands of C = A B, float32 and positive, with A as the libraries want it."""

    structure: Structure
    values: torch.Tensor
    torch_csr: torch.Tensor
    scipy_csr: scipy.sparse.csr_matrix
    b: torch.Tensor

    @staticmethod
    def of(structure: Structure, width: int, seed: int = 0) -> Product:
        draw = torch.Generator().manual_seed(seed)
        values = torch.rand(structure.nnz, generator=draw)
        pos, crd = torch.from_numpy(structure.pos), torch.from_numpy(structure.crd)
        as_torch = torch.sparse_csr_tensor(
            pos, crd, values, size=structure.shape, check_invariants=False
        )
        as_scipy = scipy.sparse.csr_matrix(
            (values.numpy(), structure.crd, structure.pos), shape=structure.shape
        )
        b = torch.rand(structure.shape[1], width, generator=draw)
        return Product(structure, values, as_torch, as_scipy, b)

    @property
    def width(self) -> int:
        return self.b.shape[1]

    def result(self) -> torch.Tensor:
        """Memory for the result, not initialised."""
        return torch.empty(self.structure.shape[0], self.width)


def _last_cache() -> int:
    """The size of the last-level cache in bytes, as the system reports it."""
    sizes = [path.read_text() for path in CACHES.glob("index*/size")]
    return max((1024 * int(size.strip().removesuffix("K")) for size in sizes), default=0)


def twin_variants(product: Product) -> list[str]:
    """The variants that a careful author would try.

    Streaming stores are for results that exceed the caches. With a smaller result, its next reader
    waits longer than the product gained.
    """
    size = 4 * product.width * product.structure.shape[0]
    streams = size > _last_cache() / 4
    return [name for name, (_, stream) in TWIN_VARIANTS.items() if streams or not stream]


def _address(tensor: torch.Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


def _csr_addresses(product: Product) -> list[ctypes.c_void_p]:
    pos, crd = product.structure.pos, product.structure.crd
    found = [ctypes.c_void_p(array.ctypes.data) for array in (pos, crd)]
    return [*found, _address(product.values), _address(product.b)]


def twin_call(product: Product, variant: str, threads: int, into: torch.Tensor | None) -> Call:
    """The twin. It fills `into`; if that is None, a new tensor for each call, as `A @ B` does."""
    if product.width not in TWIN_WIDTHS:
        raise SystemExit(f"the twin has no width {product.width}, only multiples of 16 up to 256")
    spmm = build.twin().twin_spmm
    operands = (ctypes.c_int64(product.structure.shape[0]), *_csr_addresses(product))
    choices = (product.width, *TWIN_VARIANTS[variant], threads)
    if into is not None:
        return functools.partial(spmm, *operands, _address(into), *choices)

    def call() -> torch.Tensor:
        result = product.result()
        spmm(*operands, _address(result), *choices)
        return result

    return call


def eigen_call(product: Product, threads: int, into: torch.Tensor) -> Call:
    """Eigen, filling an existing result."""
    spmm = build.eigen().eigen_spmm
    sizes = [ctypes.c_int64(n) for n in product.structure.shape]
    operands = [*_csr_addresses(product), _address(into)]
    return functools.partial(spmm, *sizes, *operands, product.width, threads)


def torch_calls(product: Product, into: torch.Tensor) -> dict[str, Call]:
    """torch's CSR, with a new result and with an existing one."""
    a, b = product.torch_csr, product.b
    return {
        "torch A @ B": lambda: a @ b,
        "torch out=": functools.partial(torch.addmm, into, a, b, beta=0, out=into),
    }


def scipy_call(product: Product) -> Call:
    """SciPy, which uses one thread."""
    a, b = product.scipy_csr, product.b.numpy()
    return lambda: a @ b


def tulle_calls(product: Product, into: torch.Tensor, tulle: ModuleType | None) -> Calls:
    """Tulle from Python, with a new result and with an existing one; empty without Tulle."""
    if tulle is None:
        return {}
    a, b = tulle.tensor(product.torch_csr, format="csr"), product.b
    return {"tulle": lambda: a @ b, "tulle out=": functools.partial(torch.mm, a, b, out=into)}


def tulle_cpp_call(product: Product, threads: int, into: torch.Tensor) -> Call:
    """Tulle from C++, filling an existing result, called in the same way as the twin."""
    library = build.tulle()
    sizes = [ctypes.c_int64(n) for n in product.structure.shape]
    operands = [*_csr_addresses(product), _address(into)]
    library.tulle_spmm_prepare.restype = ctypes.c_void_p
    library.tulle_spmm_failure.restype = ctypes.c_char_p
    prepared = library.tulle_spmm_prepare(*sizes, *operands, product.width, threads)
    if not prepared:
        raise RuntimeError(library.tulle_spmm_failure().decode())
    prepared = ctypes.c_void_p(prepared)
    call = functools.partial(library.tulle_spmm_run, prepared)
    weakref.finalize(call, library.tulle_spmm_free, prepared)
    if call() != 0:
        raise RuntimeError(library.tulle_spmm_failure().decode())
    return call


def reference(product: Product) -> np.ndarray:
    """The result that contenders are checked against."""
    return product.scipy_csr @ product.b.numpy()
