# variant: slimmable network: largest, smallest and random width backwarded one after another, summed on purpose
import torch
from torch import nn

torch.manual_seed(0)
hidden, out = nn.Linear(6, 16), nn.Linear(16, 3)
optimizer = torch.optim.SGD([*hidden.parameters(), *out.parameters()], lr=0.05, momentum=0.9)


def forward(x: torch.Tensor, width: int) -> torch.Tensor:
    h = torch.relu(nn.functional.linear(x, hidden.weight[:width], hidden.bias[:width]))
    return nn.functional.linear(h, out.weight[:, :width], out.bias)


for step in range(5):
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    optimizer.zero_grad()
    logits = forward(x, 16)
    loss = nn.functional.cross_entropy(logits, y)
    loss.backward()
    soft = logits.detach().softmax(1)
    for width in (4, int(torch.randint(5, 16, (1,)))):
        nn.functional.cross_entropy(forward(x, width), soft).backward()
    optimizer.step()

print(f"{loss.item():.4f}")
