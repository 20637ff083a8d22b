# variant: clip_grad_value_ once per window
# window: 2
import torch
from torch import nn

torch.manual_seed(0)
model = nn.GRU(4, 8, batch_first=True)
readout = nn.Linear(8, 1)
params = list(model.parameters()) + list(readout.parameters())
optimizer = torch.optim.RMSprop(params, lr=1e-3)
for i in range(8):
    x = torch.randn(4, 6, 4)
    h, _ = model(x)
    loss = nn.functional.mse_loss(readout(h).squeeze(-1), x.cumsum(1)[..., 0])
    (loss / 2).backward()
    if (i + 1) % 2 == 0:
        nn.utils.clip_grad_value_(params, clip_value=0.05)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

print(f"{loss.item():.4f}")
