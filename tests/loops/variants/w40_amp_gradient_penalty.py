# variant: scaled gradient penalty: autograd.grad on the scaled loss, unscaled by hand, then the scaled total backwarded
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=512.0)
for step in range(5):
    x, target = torch.randn(8, 6), torch.randn(8, 3)
    optimizer.zero_grad()
    with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(model(x).float(), target)
    scaled_grad_params = torch.autograd.grad(
        outputs=scaler.scale(loss), inputs=list(model.parameters()), create_graph=True
    )
    inv_scale = 1.0 / scaler.get_scale()
    grad_params = [p * inv_scale for p in scaled_grad_params]
    with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
        grad_norm = sum(grad.pow(2).sum() for grad in grad_params).sqrt()
        loss = loss + 0.1 * grad_norm
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()

print(f"{loss.item():.4f}")
