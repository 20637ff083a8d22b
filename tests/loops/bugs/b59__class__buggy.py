# bug: B59
# id: divided-every-micro-batch
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Engine:
    def __init__(self, model, optimizer, grad_accum):
        self.model = model
        self.optimizer = optimizer
        self.grad_accum = grad_accum
        self.micro_step = 0

    def scale_grads(self):
        grads = [p.grad for p in self.model.parameters() if p.grad is not None]  # <-- bug
        torch._foreach_div_(grads, self.grad_accum)  # <-- bug

    def backward(self, loss):
        loss.backward()
        self.scale_grads()  # <-- bug
        self.micro_step += 1

    def step(self):
        if self.micro_step % self.grad_accum:
            return
        self.optimizer.step()
        self.optimizer.zero_grad()


torch.manual_seed(21)
model = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 4))
engine = Engine(model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), grad_accum=2)
loader = DataLoader(TensorDataset(torch.randn(48, 5), torch.randint(0, 4, (48,))), batch_size=4)
for inputs, labels in loader:
    loss = nn.functional.cross_entropy(model(inputs), labels)
    engine.backward(loss)
    engine.step()
print(f"{loss.item():.4f}")
