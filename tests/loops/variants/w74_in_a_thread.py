# variant: training runs in a thread of its own
# window: 2
import threading

import torch
from torch import nn

torch.manual_seed(0)
result: dict[str, float] = {}


def train() -> None:
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(6):
        optimizer.zero_grad()
        for _ in range(2):
            x = torch.randn(8, 6)
            loss = (model(x) - x.mean(1, keepdim=True)).pow(2).mean() / 2
            loss.backward()
        optimizer.step()
    result["loss"] = loss.item()


worker = threading.Thread(target=train)
worker.start()
worker.join()
print(f"{result['loss']:.4f}")
