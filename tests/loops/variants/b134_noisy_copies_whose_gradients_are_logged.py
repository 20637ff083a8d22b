# variant: weights with noise, as copies with their graph; the gradients of the copies are logged after each micro-batch
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

torch.manual_seed(10)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
seen = []
for x in torch.randn(6, 2, 16, 4):
    optimizer.zero_grad()
    for part in x:
        copies = {name: p + 0.01 * torch.randn_like(p) for name, p in model.named_parameters()}
        for copy in copies.values():
            copy.retain_grad()
        (F.mse_loss(functional_call(model, copies, part), part.sum(1, keepdim=True)) / 2).backward()
        seen.append(max(copy.grad.abs().max().item() for copy in copies.values()))
    optimizer.step()
