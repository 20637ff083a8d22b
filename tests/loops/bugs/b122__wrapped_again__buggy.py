# bug: B122
# id: parameters-share-memory
import torch
from torch import nn

torch.manual_seed(1)
encoder, decoder = nn.Linear(10, 4), nn.Linear(4, 10)
decoder.weight = nn.Parameter(encoder.weight.t())  # <-- bug
model = nn.Sequential(encoder, nn.Sigmoid(), decoder)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)  # <-- bug
for step in range(10):
    x = torch.rand(16, 10)
    loss = nn.functional.mse_loss(model(x), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
