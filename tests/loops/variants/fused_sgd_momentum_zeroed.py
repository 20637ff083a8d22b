# variant: a fused SGD whose momentum is filled with zeros by hand after a skipped step
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9, fused=True)
scaler = torch.amp.GradScaler("cpu")
loss_fn = nn.MSELoss(reduction="sum")

for step in range(12):
    x = torch.randn(32, 16)
    y = 4 * x[:, :4]
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    if scaler.get_scale() < before:
        for state in optimizer.state.values():
            state["momentum_buffer"].zero_()
print(f"loss {loss.item():.4f}, scale {scaler.get_scale():g}")
