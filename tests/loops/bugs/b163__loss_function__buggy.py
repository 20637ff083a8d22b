# bug: B163
# id: ratio-always-one
"""PPO with its loss in a function of its own."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(2)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
opt = torch.optim.Adam(policy.parameters(), lr=3e-3)


def surrogate(batch, clip=0.2):
    logp = Categorical(logits=policy(batch["obs"])).log_prob(batch["act"])
    with torch.no_grad():
        old = Categorical(logits=policy(batch["obs"])).log_prob(batch["act"])  # <-- bug
    ratio = torch.exp(logp - old)
    return -torch.min(ratio * batch["adv"], ratio.clamp(1 - clip, 1 + clip) * batch["adv"]).mean()


def update(data, epochs=3):
    for _ in range(epochs):
        for idx in torch.randperm(len(data["act"])).chunk(4):
            loss = surrogate({k: v[idx] for k, v in data.items()})
            opt.zero_grad()
            loss.backward()
            opt.step()
    return loss.item()


for it in range(4):
    obs = torch.randn(128, 4)
    with torch.no_grad():
        law = Categorical(logits=policy(obs))
        act = law.sample()
        data = {"obs": obs, "act": act, "adv": (act == obs[:, :3].argmax(1)).float() - 0.33, "logp": law.log_prob(act)}
    print(it, update(data))
