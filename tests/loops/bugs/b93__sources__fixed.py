# bug: B93
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Mixer:
    """Two sources of data; one whose gradient agrees with that of held-out data comes to weigh more."""

    def __init__(self, model, held_out, lr=0.1, pace=0.5):
        self.model, self.held_out, self.pace = model, held_out, pace
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.logits = torch.zeros(2)

    def flat_gradient(self, x, y):
        F.cross_entropy(self.model(x), y).backward()
        return torch.cat([p.grad.flatten() for p in self.model.parameters()])

    def train_step(self, batches):
        weights = self.logits.softmax(0)
        self.optimizer.zero_grad()
        loss = sum(w * F.cross_entropy(self.model(x), y) for w, (x, y) in zip(weights, batches))
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.reweight(batches)
        return loss.item()

    def reweight(self, batches):
        wanted = self.flat_gradient(*self.held_out)
        for i, (x, y) in enumerate(batches):
            self.optimizer.zero_grad()
            self.logits[i] += self.pace * F.cosine_similarity(self.flat_gradient(x, y), wanted, dim=0)


def source(noise, n=96):
    x = torch.randn(n, 5)
    y = (x[:, 0] + noise * torch.randn(n) > 0).long()
    return DataLoader(TensorDataset(x, y), batch_size=8)


torch.manual_seed(0)
held_out = torch.randn(32, 5)
mixer = Mixer(nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 2)), (held_out, (held_out[:, 0] > 0).long()))
for batches in zip(source(0.1), source(5.0)):
    mixer.train_step(batches)
print(mixer.logits.softmax(0).tolist())
