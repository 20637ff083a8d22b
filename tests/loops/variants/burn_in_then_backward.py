# variant: recurrent burn-in: three forwards only warm the state (detached), the fourth goes backward
import torch
from torch import nn


class Memory(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn, self.out = nn.GRU(3, 12, batch_first=True), nn.Linear(12, 3)

    def forward(self, x: torch.Tensor, h: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        y, h = self.rnn(x, h)
        return self.out(y), h


torch.manual_seed(0)
model = Memory()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(10):
    chunks = torch.randn(5, 17, 3).cumsum(1)
    h = None
    for part in range(4):
        x = chunks[:, part * 4 : part * 4 + 4]
        target = chunks[:, part * 4 + 1 : part * 4 + 5]
        prediction, h = model(x, h)
        h = h.detach()
    loss = nn.functional.mse_loss(prediction, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
