# bug: B176
import copy

import torch
from torch import nn

torch.manual_seed(3)
body = nn.Sequential(nn.Linear(6, 24), nn.ReLU())
shared = nn.ModuleDict({"body": body, "actor": nn.Linear(24, 4), "critic": nn.Linear(24, 1)})
local = copy.deepcopy(shared)
optimizer = torch.optim.RMSprop(shared.parameters(), lr=1e-3)


def rollout():
    states = torch.randn(16, 6)
    with torch.no_grad():
        actions = torch.distributions.Categorical(logits=local["actor"](local["body"](states))).sample()
    return states, actions, (actions == states[:, :4].argmax(1)).float()


for update in range(10):
    local.load_state_dict(shared.state_dict())
    states, actions, returns = rollout()
    features = local["body"](states)
    chances = torch.distributions.Categorical(logits=local["actor"](features))
    value = local["critic"](features).squeeze(-1)
    actor_loss = -(chances.log_prob(actions) * (returns - value.detach())).mean()
    critic_loss = (returns - value).square().mean()
    local.zero_grad()
    (actor_loss + 0.5 * critic_loss).backward()
    for theirs, mine in zip(shared.parameters(), local.parameters()):
        theirs.grad = mine.grad.clone()
    optimizer.step()
