"""AOTInductor: packages of exported programs, run from Python and from C++."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from helpers import random_sparse
from torch import Tensor
from torch.export import Dim
from torch.utils import _pytree as pytree

import tulle
from tulle.library.loading import library_folder

ROOT = Path(__file__).resolve().parents[2]
SIZE = 6
X = torch.rand(SIZE, 4, generator=torch.Generator().manual_seed(7))

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="AOTInductor needs g++")


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(4, 3))

    def forward(self, a: Any, x: Tensor) -> Tensor:
        return torch.relu(a @ (x @ self.weight)) + a.softmax(1).sum(1)[:, None]


def matrix(seed: int) -> tulle.SparseTensor:
    return tulle.tensor(random_sparse(SIZE, SIZE, seed=seed, dtype=torch.float32), format="csr")


@pytest.fixture(scope="module")
def layer() -> Layer:
    torch.manual_seed(0)
    return Layer()


@pytest.fixture(scope="module")
def package(layer: Layer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The layer for any number of entries."""
    a = matrix(0)
    arrays = [{0: Dim.AUTO}] * len(pytree.tree_leaves(a))
    program = torch.export.export(layer, (a, X), dynamic_shapes=(arrays, None))
    path = tmp_path_factory.mktemp("aoti") / "layer.pt2"
    return str(torch._inductor.aoti_compile_and_package(program, package_path=str(path)))


def test_from_python(layer: Layer, package: str) -> None:
    loaded = torch._inductor.aoti_load_package(package)
    for seed in range(3):
        a = matrix(seed)
        torch.testing.assert_close(loaded(a, X), layer(a, X))


def test_from_cpp(layer: Layer, package: str, tmp_path: Path) -> None:
    torch_folder = Path(torch.__file__).parent
    program, operands, results = (str(tmp_path / name) for name in ("exported", "in", "out"))
    headers = [torch_folder / "include", torch_folder / "include/torch/csrc/api/include"]
    libraries = torch_folder / "lib"
    command = ["g++", "-std=c++20", "-O0", str(ROOT / "examples/exported.cpp"), "-o", program]
    command += [f"-I{folder}" for folder in headers]
    command += [f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-ltorch", "-ltorch_cpu", "-lc10"]
    subprocess.run(command, check=True)
    library = str(library_folder() / "libtulle_torch.so")
    for seed in range(2):
        a = matrix(seed)
        torch.save([*a.pattern.arrays, a.values(), X], operands)
        subprocess.run([program, library, package, operands, results], check=True)
        (found,) = torch.load(results)
        torch.testing.assert_close(found, layer(a, X).detach())
