# variant: each query comes with its own passages, the first the right one: accumulation changes no negatives
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Retriever(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.passage = nn.Linear(7, 6), nn.Linear(9, 6)

    def forward(self, queries, passages):
        return torch.einsum("bd,bnd->bn", self.query(queries), self.passage(passages))


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(96, 7), torch.randn(96, 4, 9)), batch_size=4, shuffle=True)
model = Retriever()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
k = 3
for i, (queries, passages) in enumerate(loader):
    scores = model(queries, passages)
    loss = F.cross_entropy(scores / 0.5, torch.zeros(len(scores), dtype=torch.long)) / k
    loss.backward()
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()

print(f"{loss.item() * k:.4f}")
