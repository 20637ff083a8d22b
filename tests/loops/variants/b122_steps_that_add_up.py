# variant: weights tied by .data: a decay for others alone, an SGD of one's own that logs, a twin at a rate of 0
import torch
from torch import nn


class LoggedSGD(torch.optim.SGD):
    def step(self, closure=None):
        self.taken = getattr(self, "taken", 0) + 1
        return super().step(closure)


def decays_the_body(body, twins):
    groups = [{"params": body, "weight_decay": 1e-4}, {"params": twins, "weight_decay": 0.0}]
    return torch.optim.SGD(groups, lr=1e-2)


def logs(body, twins):
    return LoggedSGD([*body, *twins], lr=1e-2)


def steps_one_by_the_sum(body, twins):
    still = {"params": twins[1:], "lr": 0.0}
    return torch.optim.AdamW([{"params": [*body, twins[0]]}, still], lr=1e-2)


torch.manual_seed(0)
for make in (decays_the_body, logs, steps_one_by_the_sum):
    embedding, body, head = nn.Embedding(20, 8), nn.Linear(8, 8), nn.Linear(8, 20, bias=False)
    head.weight.data = embedding.weight.data
    optimizer = make(list(body.parameters()), [embedding.weight, head.weight])
    tokens, targets = torch.randint(0, 20, (2, 32))
    for _ in range(8):
        optimizer.zero_grad()
        nn.functional.cross_entropy(head(torch.tanh(body(embedding(tokens)))), targets).backward()
        if make is steps_one_by_the_sum:
            embedding.weight.grad += head.weight.grad
        optimizer.step()
