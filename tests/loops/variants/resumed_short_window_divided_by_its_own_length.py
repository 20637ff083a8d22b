# variant: resumed in the middle of a window: what is left of it is a window of its own, divided by its own length
import torch
from torch import nn


def windows(start: int, stop: int, k: int) -> list[range]:
    edges = sorted({start, stop, *(i for i in range(start, stop) if i % k == 0)})
    return [range(a, b) for a, b in zip(edges, edges[1:])]


torch.manual_seed(0)
batches = [(torch.randn(4, 6), torch.randn(4, 1)) for _ in range(40)]
donor = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
donor_opt = torch.optim.SGD(donor.parameters(), lr=0.05, momentum=0.9)
checkpoint = {"model": donor.state_dict(), "optimizer": donor_opt.state_dict(), "micro_step": 6}

model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
for window in windows(checkpoint["micro_step"], len(batches), k=4):
    optimizer.zero_grad()
    for i in window:
        x, y = batches[i]
        loss = nn.functional.mse_loss(model(x), y)
        (loss / len(window)).backward()
    optimizer.step()

print(f"{loss.item():.4f}")
