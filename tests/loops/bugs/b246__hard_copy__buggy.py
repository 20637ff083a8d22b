# bug: B246
# id: average-never-updated
import torch
import torch.nn.functional as F
from torch import nn


def make(states, actions):
    return nn.Sequential(nn.Linear(states, 32), nn.ReLU(), nn.Linear(32, actions))


def main(steps=120):
    torch.manual_seed(0)
    policy_net = make(4, 2)
    target_net = make(4, 2)
    target_net.load_state_dict(policy_net.state_dict())
    target_net.eval()
    optimizer = torch.optim.AdamW(policy_net.parameters(), lr=1e-3)
    for step in range(steps):
        state = torch.randn(16, 4)
        action = torch.randint(2, (16, 1))
        after = 0.9 * state + 0.1 * torch.randn(16, 4)
        with torch.no_grad():
            wanted = -after.norm(dim=1) + 0.99 * target_net(after).max(dim=1).values
        loss = F.smooth_l1_loss(policy_net(state).gather(1, action).squeeze(1), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # <-- bug
    print(f"{loss:.4f}")


main()
