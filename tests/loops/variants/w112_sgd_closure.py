# variant: SGD and Adam stepped with a closure that clears, as the documentation shows
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
for optimizer in (torch.optim.SGD(model.parameters(), lr=0.05), torch.optim.Adam(model.parameters(), lr=1e-2)):
    for input, target in [(torch.randn(8, 6), torch.randn(8, 1)) for _ in range(4)]:

        def closure():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(input), target)
            loss.backward()
            return loss

        loss = optimizer.step(closure)

print(f"{loss.item():.4f}")
