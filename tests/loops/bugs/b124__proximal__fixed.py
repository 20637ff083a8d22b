# bug: B124
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2)
ROUNDS, CLIENTS, MU = 3, 2, 0.1
server = nn.Linear(5, 1)
truth = torch.randn(CLIENTS, 5, 1)

for round_ in range(ROUNDS):
    states = []
    for client in range(CLIENTS):
        local = copy.deepcopy(server)
        opt = torch.optim.SGD(local.parameters(), lr=0.05)
        start = [w.detach().clone() for w in local.parameters()]
        for _ in range(6):
            x = torch.randn(16, 5)
            proximal = sum(F.mse_loss(w, w0, reduction="sum") for w, w0 in zip(local.parameters(), start))
            loss = F.mse_loss(local(x), x @ truth[client]) + MU / 2 * proximal
            opt.zero_grad()
            loss.backward()
            opt.step()
        states.append(local.state_dict())
    server.load_state_dict({key: sum(s[key] for s in states) / CLIENTS for key in states[0]})
