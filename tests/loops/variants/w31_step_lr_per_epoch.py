# variant: StepLR stepped once per epoch
# window: 2
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
train_loader = DataLoader(TensorDataset(torch.randn(32, 6), torch.randn(32, 1)), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
accum_iter = 2
for epoch in range(3):
    running_loss = 0.0
    for batch_idx, (inputs, labels) in enumerate(train_loader):
        with torch.set_grad_enabled(True):
            loss = nn.functional.mse_loss(model(inputs), labels) / accum_iter
            loss.backward()
            running_loss += loss.item()
            if ((batch_idx + 1) % accum_iter == 0) or (batch_idx + 1 == len(train_loader)):
                optimizer.step()
                optimizer.zero_grad()
    scheduler.step()

print(f"{running_loss:.4f} lr {scheduler.get_last_lr()[0]:.4f}")
