# variant: three tasks, three backwards, one step, one update of the average, in every iteration
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 3))
ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.95))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for iteration in range(10):
    optimizer.zero_grad()
    for task, weight in enumerate((1.0, 0.5, 0.2)):
        x = torch.randn(8, 6)
        task_loss = weight * nn.functional.mse_loss(model(x)[:, task], x[:, task])
        task_loss.backward()
    optimizer.step()
    ema.update_parameters(model)

print(f"{task_loss.item():.4f} {int(ema.n_averaged)}")
