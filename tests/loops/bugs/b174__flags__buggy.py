# bug: B174
# id: left-frozen
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Embedding(30, 8), nn.Flatten(), nn.Linear(32, 16), nn.Tanh())
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.body(x))


def attack(model, x):
    """The words to which the answer is most sensitive, with the body's weights as constants."""
    for p in model.body.parameters():
        p.requires_grad_(False)  # <-- bug
    flags = [p.requires_grad for p in model.body.parameters()]  # <-- bug
    with torch.no_grad():
        scores = model(x).std(0)
    for p, flag in zip(model.body.parameters(), flags):
        p.requires_grad_(flag)
    return scores


torch.manual_seed(1)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    x = torch.randint(0, 30, (16, 4))
    loss = nn.functional.cross_entropy(model(x), x[:, 0] % 4)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 9:
        print(attack(model, x))
