# variant: a mask token is unused and in the optimizer; the norms of all parameters are shown, one by one and summed
import torch
from torch import nn

torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = nn.Linear(6, 8), nn.Linear(8, 1)
        self.tokens = nn.ParameterDict({"mask": nn.Parameter(torch.zeros(6))})

    def forward(self, x):
        return self.head(torch.relu(self.layer(x)))


model = Encoder()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(12):
    x = torch.randn(8, 6)
    loss = (model(x) - x[:, :1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print({name: p.norm().item() for name, p in model.named_parameters()})
    print(sum(p.abs().sum() for p in model.parameters()).item())
