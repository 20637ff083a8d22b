# bug: B36
# id: checkpoint-without-input-gradient
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class Tagger(nn.Module):
    def __init__(self, vocab=17, dim=12, tags=5, depth=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(dim, dim), nn.GELU()) for _ in range(depth))
        self.head = nn.Linear(dim, tags)
        self.gradient_checkpointing = False

    def forward(self, ids):
        h = self.embed(ids)
        for layer in self.layers:
            if self.gradient_checkpointing:
                h = h + checkpoint(layer, h, use_reentrant=True)  # <-- bug
            else:
                h = h + layer(h)
        return self.head(h)


def fit(model, lr, steps):
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=lr)
    for _ in range(steps):
        ids = torch.randint(17, (8, 6))
        loss = F.cross_entropy(model(ids).flatten(0, 1), ids.flatten() % 5)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # <-- bug
    return loss.item()


torch.manual_seed(0)
model = Tagger()
warm = fit(model, 1e-2, steps=6)
model.embed.requires_grad_(False)  # <-- bug
model.gradient_checkpointing = True  # <-- bug
tuned = fit(model, 1e-3, steps=8)
print(f"{warm:.4f} {tuned:.4f}")
