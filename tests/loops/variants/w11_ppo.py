# variant: PPO: several epochs over the minibatches of one rollout, one summed loss, clipped
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1)


class Agent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
        self.actor = nn.Linear(16, 3)
        self.critic = nn.Linear(16, 1)

    def forward(self, obs: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        h = self.trunk(obs)
        return Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1)


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)
for update in range(2):
    optimizer.param_groups[0]["lr"] = 2.5e-4 * (1 - update / 2)
    b_obs, b_returns = torch.randn(16, 4), torch.randn(16)
    with torch.no_grad():
        dist, b_values = agent(b_obs)
        b_actions = dist.sample()
        b_logprobs = dist.log_prob(b_actions)
    b_advantages = b_returns - b_values
    for epoch in range(3):
        b_inds = torch.randperm(16)
        for start in range(0, 16, 4):
            mb = b_inds[start : start + 4]
            dist, newvalue = agent(b_obs[mb])
            ratio = (dist.log_prob(b_actions[mb]) - b_logprobs[mb]).exp()
            adv = b_advantages[mb]
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            pg_loss = torch.max(-adv * ratio, -adv * torch.clamp(ratio, 0.8, 1.2)).mean()
            v_loss = 0.5 * (newvalue - b_returns[mb]).pow(2).mean()
            loss = pg_loss - 0.01 * dist.entropy().mean() + 0.5 * v_loss
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()

print(f"{loss.item():.4f}")
