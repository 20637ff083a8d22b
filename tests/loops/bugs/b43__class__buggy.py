# bug: B43
# id: optimizer-in-backward-accumulates
# needs: window
# window: 2
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class FusedBackward:
    """Steps each parameter as soon as its gradient is ready."""

    def __init__(self, model, lr):
        self.optimizers = {}
        for p in model.parameters():
            self.optimizers[p] = torch.optim.AdamW([p], lr=lr, foreach=False)
            p.register_post_accumulate_grad_hook(self.on_grad)  # <-- bug

    def on_grad(self, p):
        self.optimizers[p].step()  # <-- bug
        self.optimizers[p].zero_grad(set_to_none=True)


def train(model, loader, accumulate):
    fused = FusedBackward(model, lr=1e-3)
    print(len(fused.optimizers), "optimizers")
    for step, (x, y) in enumerate(loader, 1):
        loss = nn.functional.cross_entropy(model(x), y)
        (loss / accumulate).backward()


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(48, 6), torch.randint(0, 4, (48,))), batch_size=4)
train(nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 4)), loader, accumulate=2)
