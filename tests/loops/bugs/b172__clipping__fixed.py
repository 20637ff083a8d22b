# bug: B172
import torch
from torch import nn


class Clipped:
    """An optimizer that clips before each step."""

    def __init__(self, inner, limit):
        self.inner, self.limit = inner, limit

    def zero_grad(self):
        self.inner.zero_grad()

    def step(self):
        for group in self.inner.param_groups:
            nn.utils.clip_grad_norm_(group["params"], self.limit)
        self.inner.step()


def main():
    torch.manual_seed(2)
    model = nn.LSTM(3, 8, batch_first=True)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    clipped = Clipped(optimizer, 0.5)
    for _ in range(14):
        x = torch.randn(4, 10, 3)
        out, _ = model(x)
        loss = (out.mean(-1) - x.cumsum(1).mean(-1)).pow(2).mean()
        clipped.zero_grad()
        loss.backward()
        clipped.step()
    return loss.item()


if __name__ == "__main__":
    print(f"{main():.4f}")
