# bug: B81
import torch
import torch.nn.functional as F
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, size=8, width=24):
        super().__init__()
        self.time = nn.Embedding(10, width)
        self.head = nn.Linear(size, width)
        self.body = nn.Sequential(nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, width), nn.ReLU())
        self.tail = nn.Linear(width, size)

    def forward(self, x, t):
        return self.tail(self.body(self.head(x) + self.time(t)))


torch.manual_seed(0)
model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(24):
    x, t = torch.randn(16, 8), torch.randint(10, (16,))
    noise = torch.randn_like(x)
    share = (t[:, None] + 1) / 10
    loss = F.mse_loss(model((1 - share).sqrt() * x + share.sqrt() * noise, t), noise)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
model.eval()
with torch.no_grad():
    made = torch.randn(4, 8)
    for t in reversed(range(10)):
        made = made - 0.1 * model(made, torch.full((4,), t))
print(made.norm().item())
