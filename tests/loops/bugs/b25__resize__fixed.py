# bug: B25
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Tagger(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.embedding = nn.Embedding(vocab, 8)
        self.gru = nn.GRU(8, 8, batch_first=True)
        self.out = nn.Linear(8, 4)

    def forward(self, ids):
        return self.out(self.gru(self.embedding(ids))[0])

    def resize_token_embeddings(self, vocab):
        old = self.embedding
        new = nn.Embedding(vocab, old.embedding_dim)
        new.weight.data[: old.num_embeddings] = old.weight.data
        self.embedding = new


def main():
    torch.manual_seed(2)
    model = Tagger(vocab=20)
    model.resize_token_embeddings(24)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    loader = DataLoader(TensorDataset(torch.randint(0, 24, (32, 5)), torch.randint(0, 4, (32, 5))), batch_size=4)
    for ids, tags in loader:
        loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), tags.flatten())
        loss.backward()
        optimizer.step()
        model.zero_grad()
    print(f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
