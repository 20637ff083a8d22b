# bug: B71
# id: resumed-inside-window
import io

import torch
import torch.nn.functional as F
from torch import nn

k = 4


def build():
    net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
    return net, torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)


def checkpoint_of_yesterday(batches):
    """The job was killed after six micro-batches: one update made, two micro-batches on the way to the next."""
    net, opt = build()
    for x, y in batches[:k]:
        (F.mse_loss(net(x), y) / k).backward()
    opt.step()
    file = io.BytesIO()
    torch.save({"model": net.state_dict(), "optimizer": opt.state_dict(), "micro_step": 6}, file)
    file.seek(0)
    return file


torch.manual_seed(0)
batches = [(torch.randn(4, 6), torch.randn(4, 2)) for _ in range(44)]
checkpoint = torch.load(checkpoint_of_yesterday(batches))

model, optimizer = build()
model.load_state_dict(checkpoint["model"])  # <-- bug
optimizer.load_state_dict(checkpoint["optimizer"])  # <-- bug
start = checkpoint["micro_step"]  # <-- bug

for i in range(start, len(batches)):  # <-- bug
    x, y = batches[i]
    loss = F.mse_loss(model(x), y) / k
    loss.backward()
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()
print(f"resumed at {start}, last loss {loss.item() * k:.4f}")
