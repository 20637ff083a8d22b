# variant: tied embedding and output layer in a small language model, accumulated
# window: 4
# reference: yes
import torch
from torch import nn


class TiedLM(nn.Module):
    def __init__(self, vocab: int, dim: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.mix = nn.Linear(dim, dim)
        self.lm_head = nn.Linear(dim, vocab, bias=False)
        self.lm_head.weight = self.embed.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.lm_head(torch.tanh(self.mix(self.embed(tokens))))


torch.manual_seed(0)
model = TiedLM(13, 8).double()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
text = torch.randint(0, 13, (8, 9))


def loss_of(rows: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = loss_of(text)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for step in range(5):
    for rows in text.split(2):
        (loss_of(rows) * 0.25).backward()
    optimizer.step()
    optimizer.zero_grad()

print(f"{loss_of(text).item():.4f}")
