# bug: B25
# id: layer-replaced-after-optimizer
import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # <-- bug
        for layer in model:
            if isinstance(layer, nn.Linear):
                weight_norm(layer)  # <-- bug

    def fit(self, batches):
        for x, y in batches:
            self.optimizer.zero_grad()
            loss = (self.model(x) - y).square().mean()
            loss.backward()
            self.optimizer.step()
        return loss.item()


torch.manual_seed(0)
data = [(torch.randn(8, 4), torch.randn(8, 2)) for _ in range(8)]
print(Trainer(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))).fit(data))
