# bug: B182
# id: stepped-without-gradients
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(48, 4)
y = x @ torch.randn(4, 1)
model = nn.Linear(4, 1)
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5)

for _ in range(6):

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        return loss

    loss = optimizer.step(closure)  # <-- bug
