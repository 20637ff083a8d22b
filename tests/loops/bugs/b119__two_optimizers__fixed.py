# bug: B119
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder, head = nn.Linear(6, 8), nn.Linear(8, 1)
encoder_optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
head_optimizer = torch.optim.Adam(head.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=3)
for step in range(20):
    x = torch.randn(8, 6)
    encoder_optimizer.zero_grad()
    head_optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = F.mse_loss(head(torch.tanh(encoder(x))).float(), x[:, :1])
    scaler.scale(loss).backward()
    scaler.step(encoder_optimizer)
    scaler.step(head_optimizer)
    scaler.update()
print(f"{loss.item():.4f}")
