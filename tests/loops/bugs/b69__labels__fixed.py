# bug: B69
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


def supervised(z, labels, temperature=0.1):
    """Khosla et al.: what has the same label is pulled together."""
    apart = 1 - torch.eye(len(z))
    table = z @ z.t() / temperature
    table = table - table.max(1, keepdim=True).values.detach()
    likely = table - torch.log((torch.exp(table) * apart).sum(1, keepdim=True))
    same = (labels[:, None] == labels[None]).float() * apart
    return -((same * likely).sum(1) / same.sum(1).clamp(min=1)).mean()


def collate(rows):
    x, labels = torch.stack([row for row, _ in rows]), torch.stack([label for _, label in rows])
    return x * (torch.rand_like(x) > 0.1), x + 0.1 * torch.randn_like(x), labels


def main(batch_size=16):
    torch.manual_seed(6)
    dataset = TensorDataset(torch.randn(96, 12), torch.randint(4, (96,)))
    loader = DataLoader(dataset, batch_size=batch_size, shuffle=True, collate_fn=collate)
    model = SimCLR()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(2):
        total = 0.0
        for view_i, view_j, labels in loader:
            loss = supervised(torch.cat([model(view_i), model(view_j)]), labels.repeat(2))
            loss.backward()
            total += loss.item()
            optimizer.step()
            optimizer.zero_grad()
        print(f"epoch {epoch}: {total / len(loader):.4f}")


main()
