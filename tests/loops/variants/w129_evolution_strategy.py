# variant: evolution strategy: p.grad written from random perturbations, no backward at all
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1)).requires_grad_(False)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x, y, sigma = torch.randn(16, 6), torch.randn(16, 1), 0.05
for generation in range(5):
    theta = parameters_to_vector(model.parameters()).clone()
    estimate = torch.zeros_like(theta)
    for eps in torch.randn(6, theta.numel()):
        values = []
        for sign in (1, -1):
            vector_to_parameters(theta + sign * sigma * eps, model.parameters())
            values.append(nn.functional.mse_loss(model(x), y))
        estimate += (values[0] - values[1]) / (2 * sigma) * eps / 6
    vector_to_parameters(theta, model.parameters())
    offset = 0
    for p in model.parameters():
        p.grad = estimate[offset : offset + p.numel()].view_as(p).clone()
        offset += p.numel()
    optimizer.step()
    optimizer.zero_grad()

print(f"{values[0].item():.4f}")
