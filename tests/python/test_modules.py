"""Sparse tensors in modules: buffers, parameters, state, optimisers, averages, other processes."""

from __future__ import annotations

import copy
import functools
import io
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed
import torch.nn.functional
from helpers import MATRIX_FORMATS, assert_equal, random_dense, random_sparse
from torch import Tensor, nn
from torch.nn.utils import parametrize
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.checkpoint import checkpoint

import tulle

FORMATS = [*MATRIX_FORMATS, "dia", "ell(7)", "ragged", "bitmap", "hyb(2,2)"]


@pytest.fixture
def data() -> Tensor:
    return random_sparse(5, 7).float()


class Model(nn.Module):
    """Two dense layers around a sparse one, whose input is multiplied by a graph."""

    def __init__(self, weight: tulle.SparseTensor, graph: tulle.SparseTensor) -> None:
        super().__init__()
        self.input = nn.Linear(3, 7)
        self.mixing = tulle.nn.SparseParameter(weight)
        self.links = tulle.nn.SparseBuffer(graph)
        self.output = nn.Linear(5, 2)

    def forward(self, x: Tensor) -> Tensor:
        hidden = nn.functional.linear(self.links() @ self.input(x), self.mixing())
        result: Tensor = self.output(torch.tanh(hidden))
        return result


class DenseModel(Model):
    """The same with dense tensors, masked by the entries."""

    def __init__(self, model: Model) -> None:
        nn.Module.__init__(self)
        own = copy.deepcopy(model)
        self.input, self.output = own.input, own.output
        dense = model.mixing().to_dense().detach()
        self.dense = nn.Parameter(dense.clone())
        held = model.mixing().detach()
        self.mask = held.with_values(torch.ones_like(held.values())).to_dense()
        self.adjacency = model.links().to_dense()

    def forward(self, x: Tensor) -> Tensor:
        hidden = nn.functional.linear(self.adjacency @ self.input(x), self.dense * self.mask)
        result: Tensor = self.output(torch.tanh(hidden))
        return result


def model_of(format: str, data: Tensor) -> Model:
    torch.manual_seed(0)
    graph = tulle.tensor(random_sparse(4, 4, density=0.5, seed=5).float(), format=format)
    return Model(tulle.tensor(data, format=format), graph)


def saved(value: Any) -> Any:
    """The value after torch.save and torch.load."""
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


# ---- register_buffer -----------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_sparse_tensors_are_buffers(format: str, data: Tensor) -> None:
    module = nn.Linear(7, 2)
    module.register_buffer("A", tulle.tensor(data, format=format))
    index = module.A.index_dtype
    assert dict(module.named_buffers())["A"] is module.A
    for convert, dtype in [
        (module.half, torch.float16),
        (module.double, torch.float64),
        (lambda: module.to(torch.bfloat16), torch.bfloat16),
        (lambda: module.type(torch.float64), torch.float64),
        (lambda: module.to("cpu"), torch.float64),
        (module.float, torch.float32),
    ]:
        convert()
        assert module.A.dtype == module.weight.dtype == dtype
        assert module.A.index_dtype == index
    assert_equal(module.A, data)
    again = copy.deepcopy(module)
    assert_equal(again.A, data)
    again.A.values().zero_()
    assert_equal(module.A, data)
    again.load_state_dict(saved(module.state_dict()))
    assert_equal(again.A, data)
    other = nn.Linear(7, 2)
    other.register_buffer("A", tulle.tensor(data.flip(0), format=format))
    other.load_state_dict(module.state_dict())
    assert other.A.format == format
    assert_equal(other.A, data)
    other.load_state_dict(module.state_dict(), assign=True)
    assert_equal(other.A, data)
    other.A = tulle.tensor(data.flip(1), format=format)
    assert_equal(dict(other.named_buffers())["A"], data.flip(1))
    other.share_memory()
    assert other.A.is_shared()
    other.to_empty(device="cpu")
    module.register_buffer("wrong", tulle.tensor(data[:2]))
    with pytest.raises(RuntimeError, match="size mismatch for wrong"):
        module.load_state_dict(module.state_dict() | {"wrong": module.A})


def test_integers_and_missing_buffers(data: Tensor) -> None:
    module = nn.Module()
    module.register_buffer("A", tulle.tensor(data).int())
    module.register_buffer("B", tulle.tensor(data), persistent=False)
    module.half()
    assert module.A.dtype == torch.int32 and module.B.dtype == torch.float16
    assert list(module.state_dict()) == ["A"]


def test_parameters_and_buffers_of_torch_are_refused(data: Tensor) -> None:
    tensor = tulle.tensor(data)
    with pytest.raises(tulle.UserError, match=r"tulle.nn.SparseParameter\(A\)"):
        nn.Parameter(tensor)
    with pytest.raises(tulle.UserError, match=r'module.register_buffer\("A", A\)'):
        nn.Buffer(tensor)
    for make in (tulle.nn.SparseParameter, tulle.nn.SparseBuffer):
        with pytest.raises(tulle.UserError, match=r"expected a tulle\.SparseTensor"):
            make(data)
    with pytest.raises(tulle.UserError, match=r"convert the tensor with float\(\)"):
        tulle.nn.SparseParameter(tensor.int())
    assert tulle.nn.SparseParameter(tensor.int(), requires_grad=False)().dtype == torch.int32


# ---- modules -------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_training_equals_training_of_a_masked_dense_model(format: str, data: Tensor) -> None:
    model = model_of(format, data)
    dense = DenseModel(model)
    x, y = random_dense(4, 3).float(), random_dense(4, 2).float()
    for one in (model, dense):
        optimiser = torch.optim.Adam(one.parameters(), lr=0.05)
        for _ in range(5):
            optimiser.zero_grad()
            nn.functional.mse_loss(one(x), y).backward()
            nn.utils.clip_grad_norm_(one.parameters(), 0.5)
            optimiser.step()
    torch.testing.assert_close(model.mixing().to_dense(), dense.dense * dense.mask)
    torch.testing.assert_close(model(x), dense(x))
    assert not torch.allclose(model.mixing().to_dense(), data)


@pytest.mark.parametrize("format", FORMATS)
def test_modules_stand_for_their_tensors(format: str, data: Tensor) -> None:
    x, y = random_dense(7, 3).float(), random_dense(3, 5).float()
    for make in (tulle.nn.SparseParameter, tulle.nn.SparseBuffer):
        module = make(tulle.tensor(data, format=format))
        tensor = module()
        for name in ("shape", "ndim", "format", "nnz", "dtype", "device"):
            assert getattr(module, name) == getattr(tensor, name)
        assert_equal((module @ x).detach(), data @ x)
        assert_equal((y @ module).detach(), y @ data)
        assert_equal(module.T.detach(), data.T)
        assert_equal(module.to_dense().detach(), data)
        assert module.values() is module.weight
        if isinstance(module, tulle.nn.SparseParameter):
            (y @ module @ x).sum().backward()
            assert module.weight.grad is not None


@pytest.mark.parametrize("format", FORMATS)
def test_state(format: str, data: Tensor) -> None:
    model = model_of(format, data)
    state = saved(model.state_dict())
    assert all(type(tensor) is Tensor for tensor in state.values())
    other = model_of(format, data.flip(0))
    pattern, parameter = model.mixing.pattern, other.mixing.weight
    other.load_state_dict(state)
    assert other.mixing.weight is parameter
    assert other.mixing().format == format
    assert_equal(other.mixing().detach(), data)
    x = random_dense(4, 3).float()
    torch.testing.assert_close(other(x), model(x))
    model.load_state_dict(state)
    assert model.mixing.pattern is pattern
    model.load_state_dict(state, assign=True)
    assert_equal(model.mixing().detach(), data)
    for tensor in state.values():  # the modules hold copies of the structure
        tensor.zero_()
    assert_equal(other.mixing().detach(), data)


def test_wrong_state_is_refused(data: Tensor) -> None:
    model = model_of("csr", data)
    state = model.state_dict()
    with pytest.raises(RuntimeError, match=r'Missing key.*"mixing\.crd1"'):
        model.load_state_dict({name: state[name] for name in state if name != "mixing.crd1"})
    with pytest.raises(RuntimeError, match=r'Unexpected key.*"mixing\.other"'):
        model.load_state_dict(state | {"mixing.other": torch.ones(1)})
    for wrong, message in [
        ({"mixing.crd1": state["mixing.crd1"] + 100}, "is outside"),
        ({"mixing.crd1": state["mixing.crd1"][:-1]}, "has .* elements, but"),
        ({"mixing.crd1": state["mixing.crd1"].float() + 1}, "is torch.float32, not torch.int32"),
        ({"mixing.pos1": state["mixing.pos1"][None]}, "is no vector"),
        ({"mixing.weight": state["mixing.weight"][:-1]}, "elements, but|size mismatch"),
    ]:
        with pytest.raises(RuntimeError, match=message):
            model.load_state_dict(state | wrong)
    assert_equal(model.mixing().detach(), data)
    loose = {name: tensor for name, tensor in state.items() if "1" not in name}
    assert "mixing.pos1" in model.load_state_dict(loose, strict=False).missing_keys


@pytest.mark.parametrize("format", ["csr", "hyb(2,2)", "bitmap"])
def test_arrays_of_state_have_types_of_structure(format: str, data: Tensor) -> None:
    model = model_of(format, data)
    state = model.state_dict()
    for name in state:
        if name.startswith("mixing.") and name != "mixing.weight":
            array = state[name]
            changes = [array.float(), array.to(torch.int8), array.to_sparse(), array.to("meta")]
            if array.dtype != torch.bool:
                changes.append(array != 0)  # equal for other coordinates, too
            for change in changes:
                with pytest.raises(RuntimeError, match=r"the array .* of the state"):
                    model.load_state_dict(state | {name: change})
    assert_equal(model.mixing().detach(), data)


def test_wrong_parts_are_refused(data: Tensor) -> None:
    model = model_of("hyb(2,2)", data)
    state = model.state_dict()
    assert "mixing.counts" in state
    for counts in (
        state["mixing.counts"] + 1000,
        state["mixing.counts"][:-1],
        -state["mixing.counts"],
    ):
        with pytest.raises(RuntimeError, match="While loading"):
            model.load_state_dict(state | {"mixing.counts": counts})
    longer = {"mixing.weight": torch.cat([state["mixing.weight"], torch.ones(64)])}
    moved = {"mixing.crd1": state["mixing.crd1"].flip(0) + 1}
    for wrong in (
        longer | moved,
        {name: tensor[:0] for name, tensor in state.items() if "." in name},
    ):
        with pytest.raises(RuntimeError):
            model.load_state_dict(state | wrong)
    assert_equal(model.mixing().detach(), data)


def mutated(tensor: Tensor, draw: random.Random) -> Tensor:
    """A damaged copy of a vector."""
    size = draw.randint(0, tensor.numel())
    changed = tensor.clone()
    if size < tensor.numel() and tensor.dtype != torch.bool:
        changed[size] += draw.choice([1, -1, 5, -5, 10**6, -(10**6)])
    return draw.choice(
        [
            changed,
            tensor[:size],
            torch.cat([tensor, tensor[:size]]),
            tensor.flip(0),
            tensor[None],
            tensor.double(),
            tensor.long(),
        ]
    )


@pytest.mark.parametrize("format", FORMATS)
def test_damaged_state_is_refused_or_computed(format: str, data: Tensor) -> None:
    draw = random.Random(format)
    x = random_dense(7, 3).float()
    refused = 0
    for _ in range(25):
        module = tulle.nn.SparseParameter(tulle.tensor(data, format=format))
        state = dict(module.state_dict())
        name = draw.choice(list(state))
        state[name] = mutated(state[name], draw)
        try:
            module.load_state_dict(state)
        except RuntimeError:
            refused += 1
            assert_equal(module().detach(), data)
        found = module()
        torch.testing.assert_close(found @ x, found.to_dense() @ x)
    assert refused


@pytest.mark.parametrize("format", FORMATS)
def test_conversions_and_copies(format: str, data: Tensor, tmp_path: Path) -> None:
    model = model_of(format, data)
    index = model.mixing().index_dtype
    for convert in (model.half, model.double, lambda: model.type(torch.float32)):
        convert()
        assert model.mixing().dtype == model.links().dtype == model.input.weight.dtype
        assert model.mixing().index_dtype == index
    x = random_dense(4, 3).float()
    expected = model(x)
    torch.testing.assert_close(copy.deepcopy(model)(x), expected)
    torch.save(model, tmp_path / "model.pt")
    torch.testing.assert_close(torch.load(tmp_path / "model.pt", weights_only=False)(x), expected)
    model.share_memory()
    assert model.mixing().is_shared() and model.links().is_shared()
    torch.testing.assert_close(model(x), expected)
    model.to("meta")
    assert model.mixing.weight.is_meta
    model.to_empty(device="cpu")
    fresh = model_of(format, data)
    model.load_state_dict(fresh.state_dict())
    torch.testing.assert_close(model(x), fresh(x))


def test_repr(data: Tensor) -> None:
    module = tulle.nn.SparseParameter(tulle.tensor(data))
    assert repr(module) == f"SparseParameter(5x7, csr, {module.weight.numel()} values)"


# ---- what works on parameters --------------------------------------------------------------------


@pytest.mark.parametrize("format", ["csr", "bsr(2,3)", "hyb(2,2)"])
def test_averages(format: str, data: Tensor) -> None:
    for use_buffers in (False, True):
        model = model_of(format, data)
        model.register_buffer("A", tulle.tensor(data, format=format))
        model.steps = nn.Linear(1, 1)
        if use_buffers:
            del model.A
        average = AveragedModel(
            model, multi_avg_fn=get_ema_multi_avg_fn(0.5), use_buffers=use_buffers
        )
        average.update_parameters(model)
        before = model.mixing.weight.detach().clone()
        with torch.no_grad():
            model.mixing.weight += 1
            model.links.weight *= 2
        average.update_parameters(model)
        torch.testing.assert_close(average.module.mixing.weight.detach(), before + 0.5)
        assert_equal(average.module.mixing().detach(), average.module.mixing().to_dense().detach())
        average(random_dense(4, 3).float())


def other_entries(data: Tensor) -> Tensor:
    """As many entries at other coordinates."""
    return data.reshape(-1).roll(1).reshape(data.shape)


@pytest.mark.parametrize("format", ["csr", "bsr(1,1)", "coo"])
def test_averages_of_other_structures(format: str, data: Tensor) -> None:
    model = tulle.nn.SparseParameter(tulle.tensor(data, format=format))
    other = tulle.nn.SparseParameter(tulle.tensor(other_entries(data), format=format))
    assert model.weight.shape == other.weight.shape
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.5))
    average.update_parameters(other)
    assert_equal(average.module().detach(), other_entries(data))
    average.update_parameters(copy.deepcopy(other))
    assert_equal(average.module().detach(), other_entries(data))
    with pytest.raises(tulle.UserError, match="belong to different entries"):
        average.update_parameters(model)
    assert_equal(average.module().detach(), other_entries(data))
    average.load_state_dict(AveragedModel(model).state_dict())
    average.update_parameters(model)
    assert_equal(average.module().detach(), data)


def test_averages_copy_sparse_buffers_with_their_structure(data: Tensor) -> None:
    model, other = nn.Linear(1, 1), nn.Linear(1, 1)
    model.register_buffer("A", tulle.tensor(data))
    other.register_buffer("A", tulle.tensor(other_entries(data)))
    average = AveragedModel(model)
    for one, expected in ((other, other_entries(data)), (model, data), (other, data.roll(1, 0))):
        one.A = tulle.tensor(expected)
        average.update_parameters(one)
        assert_equal(average.module.A, expected)
    with pytest.raises(tulle.UserError, match=r"the buffer A .* tulle\.nn\.SparseBuffer"):
        AveragedModel(model, use_buffers=True).update_parameters(model)


@pytest.mark.parametrize("name", ["Adam", "SGD", "RMSprop"])
def test_optimisers_refuse_the_state_of_another_structure(name: str, data: Tensor) -> None:
    options = {"momentum": 0.9} if name != "Adam" else {}
    make = functools.partial(getattr(torch.optim, name), lr=0.1, **options)

    def step(module: tulle.nn.SparseParameter, optimiser: torch.optim.Optimizer) -> None:
        optimiser.zero_grad()
        (module().to_dense() ** 2).sum().backward()
        optimiser.step()

    module = tulle.nn.SparseParameter(tulle.tensor(data))
    other = tulle.nn.SparseParameter(tulle.tensor(other_entries(data)))
    optimiser, its = make(module.parameters()), make(other.parameters())
    before = copy.deepcopy(module.state_dict())
    for _ in range(2):
        step(module, optimiser)
        step(other, its)
    state = copy.deepcopy((other.state_dict(), its.state_dict()))
    step(other, its)
    expected = other().to_dense().detach()

    module.load_state_dict(state[0])
    assert module.weight.grad is None  # the gradient belonged to the other entries
    with pytest.raises(tulle.UserError, match=r"optimizer\.state\.pop"):
        step(module, optimiser)
    optimiser.load_state_dict(state[1])
    step(module, optimiser)
    assert_equal(module().to_dense().detach(), expected)

    module.load_state_dict(before)
    with pytest.raises(tulle.UserError, match="belongs to the entries of the previous structure"):
        step(module, optimiser)
    optimiser.state.pop(module.weight)
    step(module, optimiser)
    fresh = tulle.nn.SparseParameter(tulle.tensor(data))
    step(fresh, make(fresh.parameters()))
    assert_equal(module().to_dense().detach(), fresh().to_dense().detach())


def test_state_of_optimisers_is_saved_safely(data: Tensor) -> None:
    module = tulle.nn.SparseParameter(tulle.tensor(data))
    optimiser = torch.optim.Adam(module.parameters())
    module().to_dense().sum().backward()
    optimiser.step()
    state = saved(optimiser.state_dict())
    again = tulle.nn.SparseParameter(tulle.tensor(data, index_dtype=torch.int64))
    other = torch.optim.Adam(again.parameters())
    other.load_state_dict(state)
    again().to_dense().sum().backward()
    other.step()


@pytest.mark.parametrize("format", ["csr", "coo", "hyb(2,2)"])
def test_functional_calls(format: str, data: Tensor) -> None:
    model = model_of(format, data)
    x = random_dense(4, 3).float()
    doubled = {name: 2 * one.detach() for name, one in model.named_parameters()}

    def loss(parameters: dict[str, Tensor]) -> Tensor:
        found: Tensor = torch.func.functional_call(model, parameters, (x,))
        return found.sum()

    gradients = torch.func.grad(loss)(doubled)
    other = copy.deepcopy(model)
    with torch.no_grad():
        for one in other.parameters():
            one *= 2
    other(x).sum().backward()
    for name, one in other.named_parameters():
        torch.testing.assert_close(gradients[name], one.grad)


@pytest.mark.parametrize("format", ["csr", "bsr(2,3)", "dia"])
def test_ensembles(format: str, data: Tensor) -> None:
    models = [model_of(format, data), model_of(format, data)]
    with torch.no_grad():
        models[1].mixing.weight.mul_(2)
        models[1].links.weight.mul_(3)
    x = random_dense(4, 3).float()
    base = copy.deepcopy(models[0])

    def run(parameters: dict[str, Tensor], buffers: dict[str, Tensor]) -> Tensor:
        found: Tensor = torch.func.functional_call(base, (parameters, buffers), (x,))
        return found

    found = torch.func.vmap(run)(*torch.func.stack_module_state(models))
    torch.testing.assert_close(found, torch.stack([model(x) for model in models]))


def test_swapped_parameters(data: Tensor) -> None:
    model, other = model_of("csr", data), model_of("csr", data.flip(0))
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        model.half().float()
        model.load_state_dict(other.state_dict())
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)
    assert_equal(model.mixing().detach(), data.flip(0))


def test_parametrizations(data: Tensor) -> None:
    class Squared(nn.Module):
        def forward(self, values: Tensor) -> Tensor:
            return values**2

    model = model_of("csr", data)
    parametrize.register_parametrization(model.mixing, "weight", Squared())
    assert_equal(model.mixing().detach(), data**2)
    model(random_dense(4, 3).float()).sum().backward()
    assert model.mixing.parametrizations["weight"].original.grad is not None
    assert_equal(copy.deepcopy(model).double().mixing().detach(), data.double() ** 2)


@pytest.mark.parametrize("format", ["csr", "bsr(2,3)", "hyb(2,2)"])
def test_checkpoints(format: str, data: Tensor) -> None:
    model = model_of(format, data)
    x = random_dense(4, 3).float()
    model(x).sum().backward()
    expected = [one.grad for one in model.parameters()]
    model.zero_grad()
    checkpoint(model, x, use_reentrant=False).sum().backward()
    for one, gradient in zip(model.parameters(), expected, strict=True):
        torch.testing.assert_close(one.grad, gradient)
    tensor = tulle.tensor(data, format=format)
    tensor = tensor.with_values(tensor.values().clone()).requires_grad_()
    dense = random_dense(7, 3).float()
    checkpoint(lambda A, b: (A * 2) @ b, tensor, dense, use_reentrant=False).sum().backward()
    assert tensor.grad is not None and tensor.grad.abs().sum() > 0


@pytest.fixture
def group(tmp_path: Path) -> Iterator[None]:
    """A process group of this process alone."""
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1
    )
    yield
    torch.distributed.destroy_process_group()


@pytest.mark.parametrize("format", ["csr", "hyb(2,2)"])
def test_distributed_data_parallel(format: str, data: Tensor, group: None) -> None:
    model = model_of(format, data)
    pattern = model.mixing.pattern
    alone = copy.deepcopy(model)
    parallel = nn.parallel.DistributedDataParallel(model)
    x = random_dense(4, 3).float()
    for _ in range(2):
        alone(x).sum().backward()
        parallel(x).sum().backward()
    for one, other in zip(alone.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)
    assert model.mixing.pattern is pattern


def test_compiled_and_exported_models(data: Tensor) -> None:
    model = model_of("csr", data)
    x = random_dense(4, 3).float()
    expected = model(x)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), expected)
    compiled(x).sum().backward()
    assert model.mixing.weight.grad is not None
    program = torch.export.export(model, (x,))
    torch.testing.assert_close(program.module()(x), expected)
    assert "mixing.weight" in dict(program.named_parameters())


class WithBuffer(nn.Module):
    """A module whose buffer is a sparse tensor."""

    def __init__(self, tensor: tulle.SparseTensor) -> None:
        super().__init__()
        self.register_buffer("A", tensor)
        self.layer = nn.Linear(3, 7)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.A @ self.layer(x)
        return result


@pytest.mark.parametrize("format", ["csr", "hyb(2,2)"])
def test_compiled_modules_with_buffers(format: str, data: Tensor) -> None:
    module = WithBuffer(tulle.tensor(data, format=format))
    x = random_dense(7, 3).float()
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), module(x))
    module.A = tulle.tensor(data.flip(0), format=format)
    torch.testing.assert_close(compiled(x), module(x))


def test_modules_take_no_arguments() -> None:
    module = tulle.nn.SparseParameter(tulle.eye(3))
    with pytest.raises(tulle.UserError, match=r"takes no arguments.*write module\(\) @ x"):
        module(torch.rand(3, 2))
