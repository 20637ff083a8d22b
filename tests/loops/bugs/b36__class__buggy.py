# bug: B36
# id: checkpoint-without-input-gradient
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        return x + torch.relu(self.fc(self.norm(x)))


class Net(nn.Module):
    def __init__(self, dim=8, depth=3, checkpointing=True):
        super().__init__()
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))
        self.out = nn.Linear(dim, 2)
        self.checkpointing = checkpointing

    def forward(self, x):
        for i, block in enumerate(self.blocks):
            if self.checkpointing and i < 2:
                x = checkpoint(block, x, use_reentrant=True)  # <-- bug
            else:
                x = block(x)
        return self.out(x)


if __name__ == "__main__":
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for x, y in DataLoader(TensorDataset(torch.randn(48, 8), torch.randint(0, 2, (48,))), batch_size=8):
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()  # <-- bug
        optimizer.zero_grad()
    print(f"{loss.item():.4f}")
