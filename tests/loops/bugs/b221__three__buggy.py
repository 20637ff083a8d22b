# bug: B221
# id: clipped-after-step
import torch
from torch import nn

torch.manual_seed(0)
world, policy, critic = nn.Linear(5, 5), nn.Linear(5, 2), nn.Linear(5, 1)
optimizers = {name: torch.optim.Adam(one.parameters(), lr=1e-3) for name, one in (("world", world), ("policy", policy))}
optimizers["critic"] = torch.optim.Adam(critic.parameters(), lr=1e-3)

for update in range(20):
    x, after = torch.randn(16, 5), torch.randn(16, 5)
    optimizers["world"].zero_grad()
    nn.functional.mse_loss(world(x), after).backward()
    optimizers["world"].step()
    nn.utils.clip_grad_norm_(world.parameters(), 0.1)  # <-- bug

    returns = after.sum(1)
    advantage = (returns - critic(x).squeeze(1)).detach()
    spread = torch.distributions.Categorical(logits=policy(x))
    optimizers["policy"].zero_grad()
    (-spread.log_prob(spread.sample()) * advantage).mean().backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizers["policy"].step()

    optimizers["critic"].zero_grad()
    nn.functional.mse_loss(critic(x).squeeze(1), returns).backward()
    nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
    optimizers["critic"].step()
