# variant: the state keeps its graph over two chunks, whose losses go backward together; then it is detached in place
import torch
from torch import nn

torch.manual_seed(0)
rnn, out = nn.RNN(3, 12, batch_first=True), nn.Linear(12, 3)
optimizer = torch.optim.SGD([*rnn.parameters(), *out.parameters()], lr=0.05)
series = torch.randn(4, 97, 3).cumsum(1) / 10
h, losses = torch.zeros(1, 4, 12), []
for chunk in range(24):
    x, y = series[:, chunk * 4 : chunk * 4 + 4], series[:, chunk * 4 + 1 : chunk * 4 + 5]
    hidden, h = rnn(x, h)
    losses.append(nn.functional.mse_loss(out(hidden), y))
    if len(losses) == 2:
        optimizer.zero_grad()
        loss = torch.stack(losses).mean()
        loss.backward()
        optimizer.step()
        h.detach_()
        losses = []

print(f"{loss.item():.4f}")
