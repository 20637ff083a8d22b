# variant: style transfer features by hooks from an eval() network with requires_grad on, which nobody steps
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class FeatureLoss(nn.Module):
    def __init__(self, net, layers):
        super().__init__()
        self.net, self.taken = net.eval(), {}
        for name in layers:
            net.get_submodule(name).register_forward_hook(self._take(name))

    def train(self, mode=True):
        return self

    def _take(self, name):
        def hook(module, args, output):
            self.taken[name] = output

        return hook

    def features(self, x):
        self.net(x)
        return dict(self.taken)

    def forward(self, x, y):
        fx = self.features(x)
        with torch.no_grad():
            fy = self.features(y)
        return sum(nn.functional.mse_loss(fx[k], fy[k]) for k in fx)


class Autoencoder(nn.Module):
    def __init__(self, dim=10):
        super().__init__()
        self.encode, self.decode = nn.Linear(dim, 4), nn.Sequential(nn.ReLU(), nn.Linear(4, dim))

    def forward(self, x):
        return self.decode(self.encode(x))


torch.manual_seed(3)
model = Autoencoder()
perceptual = FeatureLoss(nn.Sequential(nn.Linear(10, 12), nn.Tanh(), nn.Linear(12, 6)), ["0", "2"])
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(2):
    for (x,) in DataLoader(TensorDataset(torch.randn(48, 10)), batch_size=8):
        out = model(x)
        loss = perceptual(out, x) + 0.1 * (out - x).abs().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"{epoch} {loss.item():.4f}")
