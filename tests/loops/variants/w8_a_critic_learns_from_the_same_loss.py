# variant: one loss for two models of their own, each stepped by its optimizer
import torch
from torch import nn

torch.manual_seed(0)
forward_model, inverse_model = nn.Linear(6, 4), nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
first = torch.optim.Adam(forward_model.parameters(), lr=0.01)
second = torch.optim.Adam(inverse_model.parameters(), lr=0.01)
for _ in range(16):
    state, action = torch.randn(12, 4), torch.randn(12, 2)
    following = 0.9 * state + action.repeat(1, 2)
    predicted = forward_model(torch.cat([state, action], 1))
    guessed = inverse_model(torch.cat([state, following], 1))
    loss = nn.functional.mse_loss(predicted, following) + nn.functional.mse_loss(guessed, action)
    first.zero_grad()
    second.zero_grad()
    loss.backward()
    first.step()
    second.step()
print(f"{loss.item():.4f}")
