# bug: B13
import torch
from torch import nn
from torch.amp import GradScaler, autocast
from torch.nn.utils import clip_grad_norm_
from torch.utils.data import DataLoader, TensorDataset


def train(net, loader, epochs, learning_rate, amp=True):
    optimizer = torch.optim.RMSprop(net.parameters(), lr=learning_rate, momentum=0.9)
    grad_scaler = GradScaler("cpu", enabled=amp)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(1, epochs + 1):
        net.train()
        for images, targets in loader:
            with autocast("cpu", dtype=torch.bfloat16, enabled=amp):
                loss = criterion(net(images), targets)
            optimizer.zero_grad(set_to_none=True)
            grad_scaler.scale(loss).backward()
            grad_scaler.unscale_(optimizer)
            clip_grad_norm_(net.parameters(), 1.0)
            grad_scaler.step(optimizer)
            grad_scaler.update()
        print(f"epoch {epoch}: {loss.item():.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(32, 1, 8, 8), torch.randint(0, 4, (32,)))
    model = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(36, 4))
    train(model, DataLoader(data, batch_size=8, shuffle=True), epochs=2, learning_rate=1e-3)
