# bug: B21
# id: stepped-inside-autocast
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train_epoch(model, loader, optimizer, scaler):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)  # <-- bug
        scaler.update()
        optimizer.zero_grad()
    return loss.item()


def main():
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.randn(40, 7), torch.randint(0, 3, (40,))), batch_size=10)
    model = nn.Sequential(nn.Linear(7, 10), nn.ReLU(), nn.Linear(10, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("cpu", init_scale=128.0)
    for epoch in range(2):
        with torch.autocast(device_type="cpu", dtype=torch.float16):  # <-- bug
            loss = train_epoch(model, loader, optimizer, scaler)
        print(f"epoch {epoch}: {loss:.4f}")


if __name__ == "__main__":
    main()
