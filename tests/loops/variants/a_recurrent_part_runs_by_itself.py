# variant: a method runs a cell and a head once a token and the rest of the model once, and the loss holds all of it
import torch
import torch.nn.functional as F
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.token = nn.Embedding(6, 16), nn.Embedding(7, 16)
        self.cell, self.head, self.value = nn.GRUCell(16, 16), nn.Linear(16, 6), nn.Linear(16, 1)

    def logits(self, prompt, tokens):
        state = self.first(prompt)
        value = self.value(state).squeeze(1)
        token, found = torch.full_like(prompt, 6), []
        for at in range(tokens.shape[1]):
            state = self.cell(self.token(token), state)
            found.append(self.head(state))
            token = tokens[:, at]
        return torch.stack(found, 1), value


torch.manual_seed(0)
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for _ in range(24):
    prompt = torch.randint(6, (16,))
    tokens = prompt[:, None].expand(16, 5)
    logits, value = policy.logits(prompt, tokens)
    loss = F.cross_entropy(logits.transpose(1, 2), tokens) + F.mse_loss(value, prompt.float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
