# variant: a model with dropout under torch.compile (inductor), a plain loop around it
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))
compiled = torch.compile(model, backend="inductor")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
batches = [(torch.randn(16, 8), torch.randint(0, 3, (16,))) for _ in range(12)]

for step, (x, y) in enumerate(batches):
    loss = nn.functional.cross_entropy(compiled(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step} {loss.item():.10f}")
