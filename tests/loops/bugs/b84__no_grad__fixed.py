# bug: B84
import torch
from torch import nn


class TextModel(nn.Module):
    def __init__(self, vocab=20, dim=12, classes=4):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.encoder = nn.GRU(dim, dim, batch_first=True)
        self.classifier = nn.Linear(dim, classes)

    def forward(self, tokens):
        mask = (tokens != 0).unsqueeze(-1)
        h = self.embed(tokens)
        h, _ = self.encoder(h)
        pooled = (h * mask).sum(1) / mask.sum(1).clamp(min=1)
        return self.classifier(pooled)


def main():
    torch.manual_seed(6)
    model = TextModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss()
    for step in range(12):
        tokens, labels = torch.randint(0, 20, (8, 7)), torch.randint(0, 4, (8,))
        loss = criterion(model(tokens), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    print(f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
