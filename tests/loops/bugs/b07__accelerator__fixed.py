# bug: B07
# needs: reference
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Accelerator:
    """What training frameworks do: the caller hands over the plain loss."""

    def __init__(self, gradient_accumulation_steps):
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.count = 0

    @property
    def sync_gradients(self):
        return self.count % self.gradient_accumulation_steps == 0

    def backward(self, loss):
        self.count += 1
        (loss / self.gradient_accumulation_steps).backward()


torch.manual_seed(0)
steps = 4
accelerator = Accelerator(gradient_accumulation_steps=steps)
model = nn.Sequential(nn.Linear(7, 9), nn.ReLU(), nn.Linear(9, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
loss_fn = nn.MSELoss()
loader = DataLoader(TensorDataset(torch.randn(48, 7), torch.randn(48, 1)), batch_size=4)
xs, ys = [], []


def reference() -> dict[str, torch.Tensor]:
    names, params = zip(*model.named_parameters())
    loss = loss_fn(model(torch.cat(xs)), torch.cat(ys))
    return dict(zip(names, torch.autograd.grad(loss, params)))


for _ in range(2):
    for x, y in loader:
        xs.append(x)
        ys.append(y)
        loss = loss_fn(model(x), y)
        accelerator.backward(loss)
        if accelerator.sync_gradients:
            optimizer.step()
            optimizer.zero_grad()
            xs, ys = [], []
print(loss.item())
