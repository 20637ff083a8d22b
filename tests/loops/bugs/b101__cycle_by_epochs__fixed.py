# bug: B101
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
epochs = 4
loader = DataLoader(TensorDataset(torch.randn(48, 5), torch.randint(0, 3, (48,))), batch_size=8)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
lr_steps = epochs * len(loader)
scheduler = torch.optim.lr_scheduler.CyclicLR(opt, base_lr=0.0, max_lr=0.1, step_size_up=lr_steps / 2)
for epoch in range(epochs):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        scheduler.step()
    print(epoch, opt.param_groups[0]["lr"])
