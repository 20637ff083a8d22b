# bug: B68
# id: auxiliary-loss-not-divided
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATE, DECAY = 3, 1e-2


def squared_weights(model):
    return sum(p.pow(2).sum() for name, p in model.named_parameters() if name.endswith("weight"))


def train(epochs=3):
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(72, 10), torch.randint(0, 4, (72,)))
    model = nn.Sequential(nn.Linear(10, 24), nn.GELU(), nn.Linear(24, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(epochs):
        for step, (x, y) in enumerate(DataLoader(data, batch_size=8, shuffle=True), 1):
            (nn.functional.cross_entropy(model(x), y) / ACCUMULATE).backward()
            penalty = DECAY * squared_weights(model)
            penalty.backward()  # <-- bug
            if step % ACCUMULATE == 0:
                optimizer.step()
                optimizer.zero_grad()
    return model


train()
