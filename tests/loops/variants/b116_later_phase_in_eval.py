# variant: trained and evaluated, then tuned on rewards in eval mode, by another optimizer
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)


def update(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


for epoch in range(2):
    for x in torch.randn(6, 8, 6):
        update(optimizer, nn.functional.cross_entropy(policy(x), x[:, :3].argmax(1)))
policy.eval()
with torch.no_grad():
    print(policy(torch.randn(8, 6)).argmax(1))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-4)
for x in torch.randn(12, 8, 6):
    drawn = Categorical(logits=policy(x))
    action = drawn.sample()
    update(optimizer, -(drawn.log_prob(action) * (action == x[:, :3].argmax(1)).float()).mean())
