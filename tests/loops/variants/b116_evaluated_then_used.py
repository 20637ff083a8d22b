# variant: evaluated at the end; then a frozen encoder feeds a probe, MC dropout is drawn, and inputs are optimised
import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2))
head = nn.Linear(16, 2)
model = nn.Sequential(encoder, head)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for x in torch.randn(8, 16, 8):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long()).backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    print(model(torch.randn(8, 8)).argmax(1))
for p in encoder.parameters():
    p.requires_grad_(False)
head.reset_parameters()
for p in head.parameters():
    optimizer.state.pop(p)
for x in torch.randn(8, 16, 8):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), (x[:, 1] > 0).long()).backward()
    optimizer.step()
encoder[3].train()
with torch.no_grad():
    print(torch.stack([model(x[:4]) for _ in range(5)]).std(0).mean().item())
model.eval()
image = torch.zeros(1, 8, requires_grad=True)
moves = torch.optim.Adam([image], lr=0.1)
for _ in range(6):
    moves.zero_grad()
    (-model(image)[0, 0]).backward(inputs=[image])
    moves.step()
