# id: tail-dropped
# window: 4
"""Each epoch opens with clearing, which throws the last two micro-batches of the epoch before away."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATION = 4


def main() -> None:
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.randn(40, 6), torch.randn(40, 1)), batch_size=4, num_workers=2)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(3):
        optimizer.zero_grad()  # <-- bug
        for index, (inputs, targets) in enumerate(loader):
            loss = nn.functional.mse_loss(model(inputs), targets)
            (loss / ACCUMULATION).backward()
            if (index + 1) % ACCUMULATION == 0:  # <-- bug
                optimizer.step()
                optimizer.zero_grad()


if __name__ == "__main__":
    main()
