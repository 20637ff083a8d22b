# bug: B121
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
train, held_out = torch.randn(16, 6), torch.randn(16, 6)
best, best_state = float("inf"), None
for epoch in range(8):
    for x in train.split(4):
        optimizer.zero_grad()
        F.mse_loss(model(x), x[:, :1]).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        score = F.mse_loss(model(held_out), held_out[:, :1]).item() + 10.0 * (epoch > 3)
    model.train()
    if score < best:
        best, best_state = score, {name: value.clone() for name, value in model.state_dict().items()}
model.load_state_dict(best_state)
print(f"{best:.4f}")
