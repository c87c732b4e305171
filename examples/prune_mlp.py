"""Trains a dense network, prunes its weights, and trains the remaining ones with tulle.nn.

Pruning keeps the largest weights of each hidden layer. The pruned layers store and train these
only: their weight is a `tulle.nn.SparseParameter`.
"""

from __future__ import annotations

import argparse
import time

import torch
from torch import Tensor, nn
from torch.nn import functional

import tulle


class SparseLinear(nn.Module):
    """A linear layer whose weight is sparse."""

    def __init__(self, weight: tulle.SparseTensor, bias: Tensor) -> None:
        super().__init__()
        self.weight = tulle.nn.SparseParameter(weight)
        self.bias = nn.Parameter(bias.detach().clone())

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = functional.linear(x, self.weight(), self.bias)
        return result


def pruned(layer: nn.Linear, density: float, format: str) -> SparseLinear:
    """The layer with this share of its weights: those with the largest absolute values."""
    weight = layer.weight.detach()
    count = max(1, round(density * weight.numel()))
    threshold = weight.abs().flatten().kthvalue(weight.numel() - count + 1).values
    kept = torch.where(weight.abs() >= threshold, weight, 0)
    return SparseLinear(tulle.tensor(kept, format=format), layer.bias)


def train(model: nn.Module, x: Tensor, y: Tensor, steps: int, batch: int) -> float:
    """Trains on random batches. Returns the mean loss of the last ten."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3)
    losses: list[float] = []
    for _ in range(steps):
        chosen = torch.randint(x.shape[0], (batch,))
        optimiser.zero_grad()
        loss = functional.cross_entropy(model(x[chosen]), y[chosen])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.item())
    return sum(losses[-10:]) / len(losses[-10:])


@torch.no_grad()
def accuracy(model: nn.Module, x: Tensor, y: Tensor) -> float:
    return (model(x).argmax(1) == y).double().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=8000)
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--density", type=float, default=0.05, help="share of weights that remain")
    parser.add_argument("--format", default="csr", help="csr, or blocks: bsr(4,4)")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch", type=int, default=256)
    options = parser.parse_args()
    torch.manual_seed(0)

    # Each class is the mixture of several clusters.
    clusters = 4 * options.classes
    centres = torch.randn(clusters, options.features)
    cluster = torch.randint(clusters, (options.samples,))
    x = centres[cluster] + 1.5 * torch.randn(options.samples, options.features)
    y = cluster % options.classes
    held_out = options.samples // 4
    test_x, test_y, x, y = x[:held_out], y[:held_out], x[held_out:], y[held_out:]

    def report(name: str, model: nn.Module, loss: float, seconds: float) -> None:
        count = sum(one.numel() for one in model.parameters())
        print(
            f"{name:12} {count:9,} parameters, loss {loss:6.3f}, accuracy "
            f"{accuracy(model, test_x, test_y):.3f}, trained in {seconds:.1f} s"
        )

    hidden = options.hidden
    model = nn.Sequential(
        nn.Linear(options.features, hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, options.classes),
    )
    start = time.perf_counter()
    loss = train(model, x, y, options.steps, options.batch)
    report("dense", model, loss, time.perf_counter() - start)

    for at, layer in enumerate(model):
        if isinstance(layer, nn.Linear) and layer.out_features == hidden:
            model[at] = pruned(layer, options.density, options.format)
    with torch.no_grad():
        loss = functional.cross_entropy(model(x), y).item()
    report("pruned", model, loss, 0.0)

    start = time.perf_counter()
    loss = train(model, x, y, options.steps, options.batch)
    report("fine-tuned", model, loss, time.perf_counter() - start)


if __name__ == "__main__":
    main()
