# variant: the helper's head is cleared between two losses that both train the trunk: the first one goes through it
import torch
from torch import nn

torch.manual_seed(0)
trunk = nn.Sequential(nn.Linear(6, 16), nn.Tanh())
helper, main = nn.Linear(16, 3), nn.Linear(19, 1)
opt_main = torch.optim.Adam([*trunk.parameters(), *main.parameters()], lr=1e-3)
opt_helper = torch.optim.Adam(helper.parameters(), lr=1e-3)

for step in range(20):
    x = torch.randn(32, 6)
    features = trunk(x)
    hints = helper(features)
    loss = nn.functional.mse_loss(main(torch.cat([features, hints], 1)), x.sum(1, keepdim=True))
    loss_helper = nn.functional.cross_entropy(hints, x[:, :3].argmax(1))
    opt_main.zero_grad()
    loss.backward(retain_graph=True)
    opt_helper.zero_grad()  # the helper learns from its own loss alone
    loss_helper.backward()
    opt_main.step()
    opt_helper.step()
