# bug: B103
import torch
from torch import nn


class Adapter(nn.Module):
    """A bottleneck behind a layer, which begins as nothing."""

    def __init__(self, width, bottleneck):
        super().__init__()
        self.down, self.up = nn.Linear(width, bottleneck), nn.Linear(bottleneck, width)
        for layer in (self.up,):
            for parameter in layer.parameters():
                parameter.data.zero_()

    def forward(self, x):
        return x + self.up(torch.relu(self.down(x)))


def main():
    torch.manual_seed(1)
    body, adapter, head = nn.Linear(8, 12), Adapter(12, 4), nn.Linear(12, 2)
    body.requires_grad_(False)
    model = nn.Sequential(body, nn.Tanh(), adapter, head)
    optimizer = torch.optim.SGD([*adapter.parameters(), *head.parameters()], lr=0.1, momentum=0.9)
    for _ in range(40):
        x = torch.randn(10, 8)
        optimizer.zero_grad(set_to_none=False)
        loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
        loss.backward()
        nn.utils.clip_grad_norm_(adapter.parameters(), 1.0)
        optimizer.step()
    print(loss.item())


main()
