# variant: the whole train step is compiled: forward, backward, step and zero_grad inside one function
import torch
from torch import nn

torch.manual_seed(2)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Dropout(0.1), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


@torch.compile
def train_step(x, y):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()


for step in range(12):
    x = torch.randn(10, 6)
    print(f"{step} {train_step(x, x[:, :2] * 2).item():.10f}")
