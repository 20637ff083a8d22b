# variant: the losses of three exits of one network averaged over their number, a step for every batch
import torch
from torch import nn


class EarlyExit(nn.Module):
    def __init__(self, width: int = 10, depth: int = 3) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(depth)])
        self.exits = nn.ModuleList([nn.Linear(width, 4) for _ in range(depth)])

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        outs = []
        for block, exit_ in zip(self.blocks, self.exits):
            x = block(x)
            outs.append(exit_(x))
        return outs


torch.manual_seed(0)
model = EarlyExit()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
for step in range(10):
    x, y = torch.randn(12, 10), torch.randint(0, 4, (12,))
    outputs = model(x)
    loss = 0.0
    for out in outputs:
        loss = loss + criterion(out, y) / len(outputs)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
