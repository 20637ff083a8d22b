# bug: B173
# id: weights-drawn-back
import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Conv1d(2, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(80, 3))
shadow = {name: p.detach().clone() for name, p in model.named_parameters()}
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
decay = 0.99

for step in range(40):
    x, y = torch.randn(16, 2, 10), torch.randint(0, 3, (16,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.mul_(decay).add_(shadow[name], alpha=1 - decay)  # <-- bug
print(loss.item())
