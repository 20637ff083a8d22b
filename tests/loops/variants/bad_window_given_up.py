# variant: a bad micro-batch throws its whole window away (gradients cleared AND the window's counter reset), so every
# step still averages exactly the micro-batches counted.
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
ACCUM = 4


def make_sensor_data(n=1536):
    x = torch.randn(n, 10)
    w = torch.randn(10)
    y = torch.tanh(x @ w) + 0.1 * torch.randn(n)
    y[torch.randperm(n)[:6]] = float("inf")  # saturated ADC readings
    return TensorDataset(x, y)


class GaussianMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU())
        self.mean = nn.Linear(64, 1)
        self.logvar = nn.Linear(64, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mean(h).squeeze(-1), self.logvar(h).squeeze(-1).clamp(-6, 4)


def nll(mean, logvar, y):
    return 0.5 * (logvar + (y - mean) ** 2 / logvar.exp()).mean()


def main():
    loader = DataLoader(make_sensor_data(), batch_size=16, shuffle=True)
    model = GaussianMLP()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)

    for epoch in range(5):
        opt.zero_grad()
        pending, steps, dropped = 0, 0, 0
        total, seen = 0.0, 0
        for x, y in loader:
            loss = nll(*model(x), y)
            if not torch.isfinite(loss):
                # start the window afresh: what is in .grad belongs to the window we give up
                opt.zero_grad()
                dropped += pending + 1
                pending = 0
                continue
            (loss / ACCUM).backward()
            pending += 1
            total += loss.item()
            seen += 1
            if pending == ACCUM:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
                opt.step()
                opt.zero_grad()
                pending = 0
                steps += 1
        if pending > 0:  # short window at the end of the epoch
            for p in model.parameters():
                p.grad.mul_(ACCUM / pending)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            opt.zero_grad()
            steps += 1
        print(f"epoch {epoch} nll {total / seen:.4f} steps {steps} micro-batches dropped {dropped}")


if __name__ == "__main__":
    main()
