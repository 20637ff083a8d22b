# variant: the noise scale from differences of the accumulated gradient, copied before and after each backward
import torch
from torch import nn


class NoiseScale:
    """Each micro-batch's own gradient is what it added to the sum."""

    def __init__(self, params):
        self.params = list(params)
        self.own = []

    def snapshot(self):
        return [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in self.params]

    def measure(self, before):
        after = self.snapshot()
        self.own.append(torch.cat([(a - b).flatten() for a, b in zip(after, before)]))

    def value(self):
        g = torch.stack(self.own)
        self.own = []
        return (g.var(0).sum() / g.mean(0).pow(2).sum()).item()


def train(model, data, window=3, lr=0.05):
    noise, scales = NoiseScale(model.parameters()), []
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, nesterov=True, momentum=0.9)
    for start in range(0, len(data), window):
        for x, y in data[start : start + window]:
            before = noise.snapshot()
            loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
            (loss / window).backward()
            noise.measure(before)
        scales.append(noise.value())
        optimizer.step()
        for p in model.parameters():
            p.grad = None
    return loss.item(), scales


torch.manual_seed(12)
net = nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 1))
loss, scales = train(net, [(torch.randn(6, 6), torch.randint(0, 2, (6, 1)).float()) for _ in range(30)])
print(f"{loss:.4f} {scales[0]:.2f} {scales[-1]:.2f}")
