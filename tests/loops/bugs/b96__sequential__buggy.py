# bug: B96
# id: checkpoint-draws-again
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential


def make_layers(dim, depth, p):
    return nn.Sequential(*[nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Dropout(p)) for _ in range(depth)])


class Trainer:
    def __init__(self, dim=8, segments=2, **options):
        self.stem, self.body, self.head = nn.Linear(4, dim), make_layers(dim, 4, 0.25), nn.Linear(dim, 1)
        self.segments, self.options = segments, options
        self.all = nn.ModuleList([self.stem, self.body, self.head])
        self.optimizer = torch.optim.Adam(self.all.parameters(), lr=3e-3)

    def forward(self, x):
        h = checkpoint_sequential(self.body, self.segments, self.stem(x), **self.options)  # <-- bug
        return self.head(h)

    def fit(self, batches):
        for x, y in batches:
            self.optimizer.zero_grad()
            loss = nn.functional.huber_loss(self.forward(x), y)
            loss.backward()
            self.optimizer.step()
            yield loss.item()


torch.manual_seed(0)
trainer = Trainer(use_reentrant=False, preserve_rng_state=False)  # <-- bug
losses = list(trainer.fit([(torch.randn(16, 4), torch.randn(16, 1)) for _ in range(10)]))
print(f"{sum(losses) / len(losses):.4f}")
