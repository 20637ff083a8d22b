# variant: micro-batches are scaled with one scale: the update waits for the end of the window, for both optimizers
import torch
from torch import nn

torch.manual_seed(2)
table, body = nn.Embedding(10, 6), nn.Linear(6, 10)
optimizers = torch.optim.Adagrad(table.parameters(), lr=0.1), torch.optim.Adam(body.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=128.0, growth_interval=1)
for step in range(12):
    words = torch.randint(10, (8,))
    loss = nn.functional.cross_entropy(body(table(words)), (words + 3) % 10)
    scaler.scale(loss / 3).backward()
    if (step + 1) % 3 == 0:
        for optimizer in optimizers:
            scaler.step(optimizer)
        scaler.update()
        for optimizer in optimizers:
            optimizer.zero_grad()
print(f"{loss.item():.4f}")
