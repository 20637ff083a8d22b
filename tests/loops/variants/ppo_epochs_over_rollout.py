# variant: PPO: 32 acting forwards with gradients on, then four epochs of minibatches over the rollout
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
value = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=3e-3, eps=1e-5)
horizon, epochs, minibatch, clip = 32, 4, 8, 0.2

obs = torch.randn(4)
for update in range(3):
    rows = {"obs": [], "act": [], "logp": [], "rew": [], "val": []}
    for _ in range(horizon):
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        rows["obs"].append(obs)
        rows["act"].append(action)
        rows["logp"].append(dist.log_prob(action).detach())
        rows["val"].append(value(obs).squeeze().detach())
        obs = 0.95 * obs + 0.2 * (2 * action - 1) + 0.05 * torch.randn(4)
        rows["rew"].append(-0.05 * obs.abs().sum())
    b = {k: torch.stack(v) for k, v in rows.items()}

    returns, running = torch.zeros(horizon), value(obs).item()
    for t in reversed(range(horizon)):
        running = b["rew"][t] + 0.97 * running
        returns[t] = running
    advantages = returns - b["val"]
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)

    for _ in range(epochs):
        for idx in torch.randperm(horizon).split(minibatch):
            dist = Categorical(logits=policy(b["obs"][idx]))
            ratio = (dist.log_prob(b["act"][idx]) - b["logp"][idx]).exp()
            clipped = ratio.clamp(1 - clip, 1 + clip)
            pg_loss = -torch.min(ratio * advantages[idx], clipped * advantages[idx]).mean()
            v_loss = 0.5 * (value(b["obs"][idx]).squeeze(1) - returns[idx]).pow(2).mean()
            loss = pg_loss + 0.5 * v_loss - 0.01 * dist.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*policy.parameters(), *value.parameters()], 0.5)
            optimizer.step()
    print(f"update {update} loss {loss.item():.4f}")
