# variant: graphs that stay for another pass: shares of one sum, terms apart from a running sum that is shown
import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for _ in range(8):
    optimizer.zero_grad()
    both = policy(torch.randn(3)).logsumexp(0) - policy(torch.randn(3))[0]
    for share in (0.25, 0.5, 0.25):
        (share * both).backward(retain_graph=True)
    optimizer.step()

    # Each episode alone; the sum of what was gained keeps no graph. One trunk is common to all of them.
    optimizer.zero_grad()
    trunk = policy[1](policy[0](torch.randn(3)))
    total = 0
    for t in range(3):
        gain = policy[2](trunk).log_softmax(0)[t % 2] * (3 - t) + 0.1 * trunk[t]
        (-(total + gain) / 3).backward(retain_graph=True)
        total = total + gain.detach()
    optimizer.step()
print(float(total))
