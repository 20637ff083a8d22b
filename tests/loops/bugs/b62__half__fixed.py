# bug: B62
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler("cpu", init_scale=128.0)
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            loss = nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return loss.item()


torch.manual_seed(7)
loader = DataLoader(TensorDataset(torch.randn(48, 5), torch.randint(0, 2, (48,))), batch_size=8)
print(train(nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 2)), loader))
