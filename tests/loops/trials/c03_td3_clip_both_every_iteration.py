# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""TD3: the actor is updated every second iteration; the engine clips whatever nets it knows each time."""
actor = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2), nn.Tanh())
critic = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opts = {"actor": torch.optim.Adam(actor.parameters(), 1e-3), "critic": torch.optim.Adam(critic.parameters(), 1e-3)}
nets = {"actor": actor, "critic": critic}


def clip_all():
    for net in nets.values():
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)


for it in range(48):
    s, a, r = torch.randn(8, 4), torch.randn(8, 2), torch.randn(8, 1)
    q_loss = F.mse_loss(critic(torch.cat([s, a], 1)), r)
    opts["critic"].zero_grad()
    q_loss.backward()
    clip_all()
    opts["critic"].step()
    if it % 4 == 3:
        for p in critic.parameters():
            p.requires_grad_(False)
        pi_loss = -critic(torch.cat([s, actor(s)], 1)).mean()
        opts["actor"].zero_grad()
        pi_loss.backward()
        clip_all()
        opts["actor"].step()
        for p in critic.parameters():
            p.requires_grad_(True)
print(q_loss.item())
