# variant: Embedding(sparse=True) with SparseAdam beside Adam for the dense part
# window: 2
import torch
from torch import nn

torch.manual_seed(0)
embedding = nn.Embedding(50, 8, sparse=True)
dense = nn.Linear(8, 1)
opt_sparse = torch.optim.SparseAdam(list(embedding.parameters()), lr=1e-2)
opt_dense = torch.optim.Adam(dense.parameters(), lr=1e-2)
for step in range(5):
    opt_sparse.zero_grad()
    opt_dense.zero_grad()
    for _ in range(2):
        ids, target = torch.randint(0, 50, (8, 3)), torch.randn(8, 1)
        loss = nn.functional.mse_loss(dense(embedding(ids).mean(1)), target) / 2
        loss.backward()
    opt_sparse.step()
    opt_dense.step()

print(f"{loss.item():.4f}")
