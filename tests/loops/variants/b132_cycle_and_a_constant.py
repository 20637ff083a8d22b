# variant: a latent is predicted one step and two steps ahead, each against a target without a graph; a decoder ties it
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(5)
encoder, dynamics, decoder = nn.Linear(6, 10), nn.Linear(10, 10), nn.Linear(10, 6)
model = nn.ModuleList([encoder, dynamics, decoder])
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for x in torch.randn(8, 16, 3, 6):
    z = encoder(x[:, 0])
    one = dynamics(z)
    two = dynamics(one)
    loss = F.mse_loss(one, encoder(x[:, 1]).detach()) + F.mse_loss(decoder(two), decoder(z) + x[:, 2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
