# bug: B75
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
accumulate = 4
loader = DataLoader(TensorDataset(torch.randn(112, 6), torch.randn(112, 1)), batch_size=4)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)


def update(micro_batches):
    """A step by the mean over the micro-batches that there were."""
    for p in model.parameters():
        p.grad.div_(micro_batches)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()


for epoch in range(3):
    gathered = 0
    for step, (x, y) in enumerate(loader):
        nn.functional.mse_loss(model(x), y).backward()
        gathered += 1
        if (step + 1) % accumulate == 0:
            update(gathered)
            gathered = 0
    if gathered:
        update(gathered)
