# variant: fine-tuned in eval mode from the first step on, and evaluated now and then
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1))
for p in model[0].parameters():
    p.requires_grad_(False)
model.eval()
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3)
for epoch in range(4):
    for x in torch.randn(5, 16, 8):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), x[:, :1]).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(model(torch.randn(4, 8)).mean().item())
