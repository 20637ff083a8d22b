# bug: B06
# id: loss-not-divided
# needs: reference
# window: 3
import torch
import torch.nn.functional as F
from torch import nn


class TinyTransformer(nn.Module):
    def __init__(self, vocab=12, dim=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layer = nn.TransformerEncoderLayer(dim, 2, 16, dropout=0.0, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, tokens):
        return self.out(self.layer(self.embed(tokens)))


class Trainer:
    def __init__(self, model, micro_batches):
        self.model = model
        self.n = micro_batches
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        self.batch = None

    def loss(self, tokens):
        return F.cross_entropy(self.model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())

    def train_batch(self, batch):
        self.batch = batch
        self.optimizer.zero_grad()
        total = 0.0
        for micro in batch.chunk(self.n):
            loss = self.loss(micro)  # <-- bug
            loss.backward()  # <-- bug
            total += loss.item()
        self.optimizer.step()
        return total


torch.manual_seed(2)
trainer = Trainer(TinyTransformer(), micro_batches=3)


def reference() -> dict[str, torch.Tensor]:
    params = dict(trainer.model.named_parameters())
    grads = torch.autograd.grad(trainer.loss(trainer.batch), params.values())
    return dict(zip(params, grads))


for _ in range(6):
    last = trainer.train_batch(torch.randint(0, 12, (9, 6)))
print(f"{last:.4f}")
