# variant: one of two groups is empty, since the model has no vectors, and a frozen part is passed through
import torch
from torch import nn

torch.manual_seed(0)
body, head = nn.Linear(6, 8, bias=False), nn.Linear(8, 2, bias=False)
body.requires_grad_(False)
matrices = [p for p in head.parameters() if p.dim() > 1]
vectors = [p for p in head.parameters() if p.dim() == 1]
optimizer = torch.optim.AdamW(
    [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}], lr=1e-2
)
for step in range(16):
    x = torch.randn(16, 6)
    loss = nn.functional.mse_loss(head(torch.relu(body(x))), x[:, :2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
