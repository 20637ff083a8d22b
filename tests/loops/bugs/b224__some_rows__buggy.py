# bug: B224
# id: input-gradient-piles-up
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 3))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(torch.rand(96, 10), torch.randint(0, 3, (96,))), batch_size=16)
epsilon, alpha = 0.2, 0.08

for epoch in range(2):
    for X, y in loader:
        delta = torch.zeros_like(X).uniform_(-epsilon, epsilon)
        for _ in range(5):
            delta.requires_grad = True
            output = model(X + delta)
            loss = F.cross_entropy(output, y)
            opt.zero_grad()
            loss.backward()  # <-- bug
            grad = delta.grad.detach()
            right = output.max(1)[1] == y
            delta.data[right] = torch.clamp(delta + alpha * torch.sign(grad), -epsilon, epsilon)[right]
            delta.data[right] = torch.max(torch.min(1 - X, delta.data), 0 - X)[right]
        delta = delta.detach()
        loss = F.cross_entropy(model(X + delta), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
