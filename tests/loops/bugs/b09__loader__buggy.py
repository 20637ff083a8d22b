# bug: B09
# id: tail-dropped
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_model():
    return nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 3))


def train(model, loader, optimizer, accumulation_steps, epochs):
    criterion = nn.CrossEntropyLoss(reduction="sum")
    for epoch in range(epochs):
        model.train()
        model.zero_grad()  # <-- bug
        samples = 0
        for batch_idx, (data, target) in enumerate(loader):
            loss = criterion(model(data), target)
            loss.backward()
            samples += len(data)
            if (batch_idx + 1) % accumulation_steps == 0:  # <-- bug
                for p in model.parameters():
                    p.grad.div_(samples)
                optimizer.step()
                model.zero_grad()
                samples = 0
    return loss


if __name__ == "__main__":
    torch.manual_seed(6)
    dataset = TensorDataset(torch.randn(44, 1, 6, 6), torch.randint(0, 3, (44,)))
    model = make_model()
    adam = torch.optim.Adam(model.parameters(), lr=1e-3)
    final = train(model, DataLoader(dataset, batch_size=4, shuffle=True), adam, accumulation_steps=3, epochs=3)
    print(f"{final:.3f}")
