# bug: B69
# id: contrastive-loss-accumulated
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SimCLR(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(12, 20), nn.ReLU())
        self.projector = nn.Sequential(nn.Linear(20, 20), nn.ReLU(), nn.Linear(20, 6))

    def forward(self, x):
        return nn.functional.normalize(self.projector(self.backbone(x)), dim=-1)


def nt_xent(z_i, z_j, temperature=0.5):
    n = len(z_i)
    z = torch.cat([z_i, z_j])
    others = torch.exp(torch.mm(z, z.t()) / temperature)
    others = others.masked_select(~torch.eye(2 * n, dtype=torch.bool)).view(2 * n, -1)
    positives = torch.exp((z_i * z_j).sum(-1) / temperature).repeat(2)
    return -torch.log(positives / others.sum(-1)).mean()


def collate(rows):
    x = torch.stack([row for (row,) in rows])
    return x * (torch.rand_like(x) > 0.1), x + 0.1 * torch.randn_like(x)


def main(batch_size=16, accumulate=2):
    torch.manual_seed(6)
    dataset = TensorDataset(torch.randn(96, 12))
    loader = DataLoader(dataset, batch_size=batch_size // accumulate, shuffle=True, collate_fn=collate)
    model = SimCLR()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(2):
        total = 0.0
        for step, (view_i, view_j) in enumerate(loader, 1):
            loss = nt_xent(model(view_i), model(view_j)) / accumulate  # <-- bug
            loss.backward()  # <-- bug
            total += loss.item()
            if step % accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()
        print(f"epoch {epoch}: {total * accumulate / len(loader):.4f}")


main()
