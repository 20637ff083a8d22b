# variant: step > 0 and step % k == 0 asked before the backward closes the window just completed; the last one after
import torch
from torch import nn

torch.manual_seed(0)
batches = [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(36)]
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
k = 4


def update() -> None:
    optimizer.step()
    optimizer.zero_grad()


for step, (x, y) in enumerate(batches):
    if step > 0 and step % k == 0:
        update()
    loss = nn.functional.cross_entropy(model(x), y) / k
    loss.backward()
update()

print(f"{loss.item() * k:.4f}")
