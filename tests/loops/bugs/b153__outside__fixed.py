# bug: B153
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=8)
inputs = torch.randn(128, 6)
targets = (inputs[:, :1] * inputs[:, 1:2]).tanh()

for epoch in range(12):

    def closure():
        optimizer.zero_grad()
        loss = F.mse_loss(model(inputs), targets)
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    print(f"{epoch}: {loss.item():.4f}")
