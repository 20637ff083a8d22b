# bug: B268
# id: probe-trains-encoder
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
x = torch.randn(64, 10)
loader = DataLoader(TensorDataset(x, x[:, :4].argmax(1)), batch_size=16, shuffle=True)
net = nn.ModuleDict(
    {
        "encoder": nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 5)),
        "decoder": nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 10)),
        "linear_probe": nn.Linear(5, 4),
    }
)
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
for epoch in range(3):
    for inputs, labels in loader:
        code = net["encoder"](inputs)
        restored = net["decoder"](code)
        scores = net["linear_probe"](code)  # <-- bug
        loss = nn.functional.mse_loss(restored, inputs) + 0.5 * nn.functional.cross_entropy(scores, labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
    accuracy = (scores.argmax(1) == labels).float().mean().item()
    print(epoch, f"{loss.item():.4f} {accuracy:.2f}")
