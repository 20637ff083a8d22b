# bug: B83
# id: scaler-step-missing
# raises: AssertionError
import torch
from torch import nn


def train(model, batches, k=2):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
    for i, (x, y) in enumerate(batches):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(x), y) / k
        scaler.scale(loss).backward()
        if (i + 1) % k == 0:
            scaler.update()  # <-- bug
            optimizer.zero_grad()
    return loss.item() * k


torch.manual_seed(7)
net = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 3))
print(train(net, [(torch.randn(6, 5), torch.randint(0, 3, (6,))) for _ in range(20)]))
