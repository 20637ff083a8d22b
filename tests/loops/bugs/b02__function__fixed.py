# bug: B02
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train_one_epoch(model, loader, optimizer, scheduler):
    for tokens, labels in loader:
        logits = model(tokens)
        loss = F.cross_entropy(logits, labels)
        loss.backward()
        optimizer.step()
        model.zero_grad()
    scheduler.step()
    return loss.detach()


class Classifier(nn.Module):
    def __init__(self, vocab=20, dim=8, classes=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, classes)

    def forward(self, tokens):
        _, h = self.gru(self.embed(tokens))
        return self.out(h[-1])


if __name__ == "__main__":
    torch.manual_seed(3)
    dataset = TensorDataset(torch.randint(0, 20, (24, 6)), torch.randint(0, 3, (24,)))
    loader = DataLoader(dataset, batch_size=8)
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.9)
    for _ in range(3):
        loss = train_one_epoch(model, loader, optimizer, scheduler)
    print(f"loss {loss:.3f}")
