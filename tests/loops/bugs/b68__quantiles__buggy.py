# bug: B68
# id: auxiliary-loss-not-divided
import torch
from torch import nn


class Codec(nn.Module):
    """An autoencoder with a prior whose quantiles have a loss, and an optimizer, of their own."""

    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(12, 4), nn.Linear(4, 12)
        self.quantiles = nn.ParameterList([torch.tensor([-6.0, 0.0, 6.0]), torch.tensor([-3.0, 1.0, 8.0])])
        self.register_buffer("target", torch.tensor([-2.0, 0.0, 2.0]))

    def forward(self, x):
        return self.decode(torch.tanh(self.encode(x)))

    def aux_loss(self):
        return sum((torch.tanh(q / 4) - torch.tanh(self.target)).abs().sum() for q in self.quantiles)


torch.manual_seed(0)
codec, accumulate = Codec(), 4
optimizer = torch.optim.Adam([*codec.encode.parameters(), *codec.decode.parameters()], lr=1e-3)
aux_optimizer = torch.optim.SGD(codec.quantiles.parameters(), lr=0.5)
for index in range(48):
    x = torch.randn(16, 12)
    loss = nn.functional.mse_loss(codec(x), x) / accumulate
    loss.backward()
    aux_loss = codec.aux_loss()
    aux_loss.backward()  # <-- bug
    if (index + 1) % accumulate == 0:
        optimizer.step()
        optimizer.zero_grad()
        aux_optimizer.step()
        aux_optimizer.zero_grad()
