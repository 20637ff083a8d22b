# window: 4
"""Ten micro-batches from two worker processes in windows of four: each epoch's tail of two has its own step."""

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
        for index, (inputs, targets) in enumerate(loader):
            first = index - index % ACCUMULATION
            size = min(ACCUMULATION, len(loader) - first)
            loss = nn.functional.mse_loss(model(inputs), targets)
            (loss / size).backward()
            if index - first == size - 1:
                optimizer.step()
                optimizer.zero_grad()


if __name__ == "__main__":
    main()
