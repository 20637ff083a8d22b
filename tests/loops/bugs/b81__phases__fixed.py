# bug: B81
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 8)
backbone = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
decoder = nn.Linear(16, 8)
first = torch.optim.Adam([*backbone.parameters(), *decoder.parameters()], lr=1e-3)
for _ in range(6):  # to give back what was put in
    first.zero_grad()
    F.mse_loss(decoder(backbone(x)), x).backward()
    first.step()

model = nn.Sequential(backbone, nn.Linear(16, 3))
backbone.requires_grad_(False)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
y = x[:, :3].argmax(dim=1)
for epoch in range(10):
    if epoch == 3:
        backbone[2].requires_grad_(True)
        optimizer.add_param_group({"params": backbone[2].parameters(), "lr": 1e-3})
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
