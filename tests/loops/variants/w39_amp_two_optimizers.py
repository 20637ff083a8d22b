# variant: one scaler, two losses, two models and optimizers: two steps, one update
import torch
from torch import nn

torch.manual_seed(0)
model0, model1 = nn.Linear(6, 4), nn.Linear(6, 4)
optimizer0 = torch.optim.SGD(model0.parameters(), lr=1e-3)
optimizer1 = torch.optim.SGD(model1.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for step in range(5):
    inp, target = torch.randn(8, 6), torch.randn(8, 4)
    optimizer0.zero_grad()
    optimizer1.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output0, output1 = model0(inp), model1(inp)
        loss0 = nn.functional.mse_loss(2 * output0.float() + 3 * output1.float(), target)
        loss1 = nn.functional.mse_loss(3 * output0.float() - 5 * output1.float(), target)
    # Both losses reach both models, which is what is wanted here.
    scaler.scale(loss0).backward(retain_graph=True)
    scaler.scale(loss1).backward()
    scaler.unscale_(optimizer0)
    scaler.step(optimizer0)
    scaler.step(optimizer1)
    scaler.update()

print(f"{loss0.item():.4f} {loss1.item():.4f}")
