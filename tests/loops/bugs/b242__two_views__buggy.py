# bug: B242
# id: target-not-detached
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(10)
model = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(20):
    x, y = torch.randn(16, 8), torch.randint(0, 4, (16,))
    u = torch.randn(32, 8)
    weak, strong = u + 0.05 * torch.randn_like(u), u + 0.4 * torch.randn_like(u)
    pseudo_labels = F.softmax(model(weak) / 0.5, dim=1)  # <-- bug
    unlabelled = -(pseudo_labels * F.log_softmax(model(strong), dim=1)).sum(1).mean()
    loss = F.cross_entropy(model(x), y) + unlabelled
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
