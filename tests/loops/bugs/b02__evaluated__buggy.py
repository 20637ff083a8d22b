# bug: B02
# id: zeroed-before-step
import torch
from torch import nn


def evaluate(model, x, y):
    model.zero_grad(set_to_none=True)  # <-- bug
    model.eval()
    with torch.no_grad():
        loss = nn.functional.mse_loss(model(x), y).item()
    model.train()
    return loss


torch.manual_seed(5)
model = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Dropout(0.1), nn.Linear(12, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x, held = torch.randn(200, 5), torch.randn(40, 5)
for step in range(40):
    rows = torch.randint(0, 200, (20,))
    loss = nn.functional.mse_loss(model(x[rows]), x[rows].sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    if step % 8 == 7:
        print(step, f"{evaluate(model, held, held.sum(1, keepdim=True)):.4f} {norm:.3f}")
    optimizer.step()
