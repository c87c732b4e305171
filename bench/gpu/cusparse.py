"""cuSPARSE, called directly as a careful user does: descriptors and buffers are made once.

Values are float32, indices int32, dense matrices row-major. The library is the one that torch
loaded.
"""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

import torch
from harness import Call

from gpu.operands import Graph

_INDEX_32, _BASE_ZERO, _FLOAT_32, _ROW_MAJOR = 2, 0, 0, 2
_PLAIN, _TRANSPOSED = 0, 1
SPMM_ALGORITHMS = {"default": 0, "csr 1": 4, "csr 2": 6, "csr 3": 12}
_SDDMM_DEFAULT = 0

_Pointer = ctypes.c_void_p
_ALPHA, _BETA = ctypes.c_float(1.0), ctypes.c_float(0.0)


class Missing(Exception):
    """cuSPARSE is not loaded in this process, or a call failed."""


@functools.cache
def _library() -> ctypes.CDLL:
    torch.cuda.init()
    for line in Path("/proc/self/maps").read_text().splitlines():
        if "libcusparse.so" in line:
            return ctypes.CDLL(line.split()[-1])
    raise Missing("torch has loaded no cuSPARSE")


def _do(name: str, *arguments: object) -> None:
    status = getattr(_library(), name)(*arguments)
    if status:
        raise Missing(f"{name} returned {status}")


@functools.cache
def _handle() -> ctypes.c_void_p:
    handle = _Pointer()
    _do("cusparseCreate", ctypes.byref(handle))
    return handle


def _address(tensor: torch.Tensor) -> ctypes.c_void_p:
    return _Pointer(tensor.data_ptr())


def _csr(graph: Graph, values: torch.Tensor) -> ctypes.c_void_p:
    found = _Pointer()
    sizes = [ctypes.c_int64(n) for n in (graph.nodes, graph.nodes, graph.nnz)]
    arrays = [_address(t) for t in (graph.pos, graph.crd, values)]
    kinds = (_INDEX_32, _INDEX_32, _BASE_ZERO, _FLOAT_32)
    _do("cusparseCreateCsr", ctypes.byref(found), *sizes, *arrays, *kinds)
    return found


def _dense(tensor: torch.Tensor) -> ctypes.c_void_p:
    found = _Pointer()
    rows, columns = tensor.shape
    sizes = [ctypes.c_int64(n) for n in (rows, columns, columns)]
    kinds = (_FLOAT_32, _ROW_MAJOR)
    _do("cusparseCreateDnMat", ctypes.byref(found), *sizes, _address(tensor), *kinds)
    return found


def _prepared(name: str, arguments: tuple[object, ...], keep: tuple[torch.Tensor, ...]) -> Call:
    """A call of cusparse`name`, whose buffer is allocated and whose preprocessing is done."""
    bytes_needed = ctypes.c_size_t()
    _do(f"cusparse{name}_bufferSize", *arguments, ctypes.byref(bytes_needed))
    buffer = torch.empty(max(bytes_needed.value, 1), dtype=torch.uint8, device="cuda")

    def call() -> None:
        _do("cusparseSetStream", _handle(), _Pointer(torch.cuda.current_stream().cuda_stream))
        _do(f"cusparse{name}", *arguments, _address(buffer))

    call.keep = keep  # type: ignore[attr-defined]
    _do("cusparseSetStream", _handle(), _Pointer(torch.cuda.current_stream().cuda_stream))
    _do(f"cusparse{name}_preprocess", *arguments, _address(buffer))
    return call


def spmm(graph: Graph, b: torch.Tensor, into: torch.Tensor, algorithm: str) -> Call:
    """into = A b."""
    scale, zero = ctypes.byref(_ALPHA), ctypes.byref(_BETA)
    matrices = (_csr(graph, graph.values), _dense(b), zero, _dense(into))
    arguments = (_handle(), _PLAIN, _PLAIN, scale, *matrices)
    choice = (_FLOAT_32, SPMM_ALGORITHMS[algorithm])
    return _prepared("SpMM", (*arguments, *choice), (b, into, graph.values))


def sddmm(graph: Graph, q: torch.Tensor, k: torch.Tensor, into: torch.Tensor) -> Call:
    """into = q k^T at the entries of A."""
    scale, zero = ctypes.byref(_ALPHA), ctypes.byref(_BETA)
    matrices = (_dense(q), _dense(k), zero, _csr(graph, into))
    arguments = (_handle(), _PLAIN, _TRANSPOSED, scale, *matrices)
    return _prepared("SDDMM", (*arguments, _FLOAT_32, _SDDMM_DEFAULT), (q, k, into))
