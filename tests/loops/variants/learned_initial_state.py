# variant: a learned initial state: every batch starts from the same parameter, no state is carried over
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.h0 = nn.Parameter(torch.zeros(1, 1, 10))
        self.gru, self.out = nn.GRU(5, 10, batch_first=True), nn.Linear(10, 3)

    def forward(self, x: torch.Tensor, h: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        h = self.h0.expand(-1, x.size(0), -1).contiguous() if h is None else h
        y, h = self.gru(x, h)
        return self.out(y), h


torch.manual_seed(0)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(9):
    x, tags = torch.randn(4, 8, 5), torch.randint(0, 3, (4, 8))
    optimizer.zero_grad()
    first, h = model(x[:, :4])
    second, h = model(x[:, 4:], h)
    loss = nn.functional.cross_entropy(torch.cat([first, second], 1).flatten(0, 1), tags.flatten())
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
