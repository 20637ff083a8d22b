# bug: B252
import torch
from torch import nn

lr, warm_up = 1e-3, 8


def decay(step):
    step += 1
    return warm_up**0.5 * min(step * warm_up**-1.5, step**-0.5)


torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(11, 16), nn.Linear(16, 11))
optimizer = torch.optim.Adam(model.parameters(), lr=lr)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=decay)
for step in range(24):
    tokens = torch.randint(0, 11, (32,))
    loss = nn.functional.cross_entropy(model(tokens), (tokens + 1) % 11)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
print(f"{loss.item():.4f}")
