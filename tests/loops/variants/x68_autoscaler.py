# variant: Megatron's trick: the auxiliary loss enters by a Function whose backward starts it with weight / k
import torch
import torch.nn.functional as F
from torch import nn


class AuxLossAutoScaler(torch.autograd.Function):
    scale = torch.tensor(1.0)

    @staticmethod
    def forward(ctx, output, aux_loss):
        ctx.save_for_backward(aux_loss)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        (aux_loss,) = ctx.saved_tensors
        return grad_output, AuxLossAutoScaler.scale * torch.ones_like(aux_loss)


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(6, 3)
        self.experts = nn.ModuleList(nn.Linear(6, 6) for _ in range(3))

    def forward(self, x):
        probs = self.gate(x).softmax(-1)
        load = F.one_hot(probs.argmax(-1), 3).float().mean(0)
        probs = AuxLossAutoScaler.apply(probs, 0.1 * 3 * (load * probs.mean(0)).sum())
        return sum(probs[:, j : j + 1] * expert(x) for j, expert in enumerate(self.experts))


torch.manual_seed(0)
model = nn.Sequential(Router(), nn.Linear(6, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
num_microbatches = 4
AuxLossAutoScaler.scale = torch.tensor(1.0 / num_microbatches)
for step in range(10):
    optimizer.zero_grad()
    for _ in range(num_microbatches):
        x, y = torch.randn(10, 6), torch.randint(0, 2, (10,))
        loss = F.cross_entropy(model(x), y) / num_microbatches
        loss.backward()
    optimizer.step()

print(f"{loss.item() * num_microbatches:.4f}")
