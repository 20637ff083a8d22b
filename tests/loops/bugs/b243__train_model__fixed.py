# bug: B243
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train_model(model, optimizer, loader, epoch):
    model.train()
    total = 0.0
    for text, label in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(text), label)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: {total / len(loader):.3f}")


torch.manual_seed(0)
texts = torch.randint(0, 40, (64, 7))
loader = DataLoader(TensorDataset(texts, (texts.sum(1) > 140).long()), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Embedding(40, 8), nn.Flatten(), nn.Linear(56, 2))
optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=2e-3)
for epoch in range(5):
    train_model(model, optimizer, loader, epoch)
