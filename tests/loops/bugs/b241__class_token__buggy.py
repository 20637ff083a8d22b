# bug: B241
# id: gradients-nobody-uses
import torch
from torch import nn


class TinyViT(nn.Module):
    def __init__(self, width=16, patches=4):
        super().__init__()
        self.embed = nn.Linear(4, width)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(torch.zeros(1, patches + 1, width))
        self.block = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0, batch_first=True)
        self.head = nn.Linear(width, 3)

    def forward(self, x):
        x = self.embed(x)
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1) + self.pos_embed
        return self.head(self.block(x)[:, 0])


def groups(model, lr, decay):
    """A rate for each part, falling from the head downwards."""
    parts = [model.head, model.block, model.embed]
    return [{"params": list(part.parameters()), "lr": lr * decay**at} for at, part in enumerate(parts)]  # <-- bug


torch.manual_seed(17)
model = TinyViT()
optimizer = torch.optim.AdamW(groups(model, 3e-3, 0.8))  # <-- bug
for step in range(20):
    patches = torch.randn(16, 4, 4)
    loss = nn.functional.cross_entropy(model(patches), patches.mean((1, 2)).gt(0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
