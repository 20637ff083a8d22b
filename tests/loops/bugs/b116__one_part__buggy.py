# bug: B116
# id: trained-in-eval-mode
import torch
from torch import nn

torch.manual_seed(4)
model = nn.ModuleDict(
    {
        "encoder": nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.2)),
        "decoder": nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 6)),
    }
)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)


def reconstruct(x):
    return model["decoder"](model["encoder"](x))


for epoch in range(3):
    model["decoder"].train()
    for x in torch.randn(8, 12, 6):
        optimizer.zero_grad()
        nn.functional.mse_loss(reconstruct(x), x).backward()
        optimizer.step()
    model.eval()  # <-- bug
    with torch.no_grad():
        x = torch.randn(20, 6)
        print(epoch, nn.functional.mse_loss(reconstruct(x), x).item())
