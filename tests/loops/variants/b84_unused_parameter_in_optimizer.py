# variant: one configuration of a model leaves its mask token unused; it stands in the optimizer and nobody reads it
import torch
from torch import nn

torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self, masked):
        super().__init__()
        self.layer, self.head = nn.Linear(6, 8), nn.Linear(8, 1)
        self.tokens = nn.ParameterDict({"mask": nn.Parameter(torch.zeros(6))})
        self.masked = masked

    def forward(self, x):
        if self.masked:
            x = torch.where(torch.rand(x.shape) < 0.2, self.tokens["mask"], x)
        return self.head(torch.relu(self.layer(x)))


model = Encoder(masked=False)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(12):
    x = torch.randn(8, 6)
    loss = (model(x) - x[:, :1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    sizes = [p.detach().norm() for p in model.parameters()]
    print(loss.item(), torch.stack(sizes).tolist())
