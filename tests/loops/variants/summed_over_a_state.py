# variant: the losses of a truncated sequence go backward at once, as they have to: the state links them
import torch
from torch import nn

torch.manual_seed(4)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 12)
        self.head = nn.Linear(12, 3)

    def forward(self, x, state):
        state = self.cell(x, state)
        return self.head(state), state


reader = Reader()
optimizer = torch.optim.Adam(reader.parameters(), lr=1e-2)
series = torch.randn(41, 5, 3).cumsum(0) / 6
for epoch in range(2):
    state, window_loss = torch.zeros(5, 12), 0.0
    for t in range(40):
        guess, state = reader.forward(series[t], state)
        window_loss = window_loss + nn.functional.mse_loss(guess, series[t + 1])
        if (t + 1) % 5 == 0:
            optimizer.zero_grad()
            (window_loss / 5).backward()
            optimizer.step()
            state, window_loss = state.detach(), 0.0
