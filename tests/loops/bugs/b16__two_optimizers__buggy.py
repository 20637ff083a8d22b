# bug: B16
# id: stepped-scaled-gradients
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.mlp = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, ids):
        return self.mlp(self.embedding(ids).mean(1))


def fit(model, loader, scaler):
    opt_embed = torch.optim.SGD(model.embedding.parameters(), lr=0.05)
    opt_mlp = torch.optim.SGD(model.mlp.parameters(), lr=0.05, momentum=0.9)
    for ids, labels in loader:
        opt_embed.zero_grad()
        opt_mlp.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            loss = nn.functional.cross_entropy(model(ids), labels)
        scaler.scale(loss).backward()
        scaler.step(opt_mlp)
        opt_embed.step()  # <-- bug
        scaler.update()
    return loss.item()


torch.manual_seed(1)
loader = DataLoader(TensorDataset(torch.randint(0, 20, (48, 4)), torch.randint(0, 2, (48,))), batch_size=8)
print(fit(Model(), loader, torch.amp.GradScaler("cpu", init_scale=512.0)))
