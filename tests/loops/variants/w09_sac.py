# variant: SAC: the actor's loss leaves gradients in the critics, which clear them before their own backward
import torch
from torch import nn

torch.manual_seed(0)
q1 = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
q2 = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
q1_target = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
q2_target = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
q1_target.load_state_dict(q1.state_dict())
q2_target.load_state_dict(q2.state_dict())
actor = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
q_optimizer = torch.optim.Adam(list(q1.parameters()) + list(q2.parameters()), lr=1e-3)
actor_optimizer = torch.optim.Adam(list(actor.parameters()), lr=3e-4)
log_alpha = torch.zeros(1, requires_grad=True)
a_optimizer = torch.optim.Adam([log_alpha], lr=1e-3)
gamma, tau, target_entropy = 0.99, 0.005, -1.0


def get_action(obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    mean, log_std = actor(obs).chunk(2, dim=-1)
    normal = torch.distributions.Normal(mean, log_std.clamp(-5, 2).exp())
    x_t = normal.rsample()
    y_t = torch.tanh(x_t)
    return y_t, (normal.log_prob(x_t) - torch.log(1 - y_t.pow(2) + 1e-6)).sum(1, keepdim=True)


for global_step in range(6):
    obs, next_obs, act = torch.randn(8, 4), torch.randn(8, 4), torch.rand(8, 1) * 2 - 1
    rewards, alpha = torch.randn(8, 1), log_alpha.exp().item()
    with torch.no_grad():
        next_act, next_logp = get_action(next_obs)
        sa = torch.cat([next_obs, next_act], 1)
        target = rewards + gamma * (torch.min(q1_target(sa), q2_target(sa)) - alpha * next_logp)
    sa = torch.cat([obs, act], 1)
    qf_loss = nn.functional.mse_loss(q1(sa), target) + nn.functional.mse_loss(q2(sa), target)
    q_optimizer.zero_grad()
    qf_loss.backward()
    q_optimizer.step()

    if global_step % 2 == 0:
        for _ in range(2):
            pi, log_pi = get_action(obs)
            sa_pi = torch.cat([obs, pi], 1)
            actor_loss = (alpha * log_pi - torch.min(q1(sa_pi), q2(sa_pi))).mean()
            actor_optimizer.zero_grad()
            actor_loss.backward()
            actor_optimizer.step()

            with torch.no_grad():
                _, log_pi = get_action(obs)
            alpha_loss = (-log_alpha.exp() * (log_pi + target_entropy)).mean()
            a_optimizer.zero_grad()
            alpha_loss.backward()
            a_optimizer.step()
            alpha = log_alpha.exp().item()

    for net, net_target in ((q1, q1_target), (q2, q2_target)):
        for param, target_param in zip(net.parameters(), net_target.parameters()):
            target_param.data.copy_(tau * param.data + (1 - tau) * target_param.data)

print(f"q {qf_loss.item():.4f} actor {actor_loss.item():.4f} alpha {alpha:.4f}")
