# bug: B270
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(20)
x = torch.randn(180, 5)
loader = DataLoader(TensorDataset(x, x[:, :3].argmax(1)), batch_size=10, shuffle=True)
model = nn.Sequential(nn.Linear(5, 20), nn.SiLU(), nn.Linear(20, 3))
fast = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
slow = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.99))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for epoch in range(4):
    for inputs, labels in loader:
        given = model(inputs)
        with torch.no_grad():
            wanted = 0.5 * (fast(inputs).softmax(-1) + slow(inputs).softmax(-1))
        loss = F.cross_entropy(given, labels) + F.mse_loss(given.softmax(-1), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        fast.update_parameters(model)
        slow.update_parameters(model)
    print(epoch, f"{loss.item():.4f}")
