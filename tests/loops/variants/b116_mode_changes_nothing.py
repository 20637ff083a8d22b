# variant: put into eval mode for each evaluation and never back, and nothing in the model depends on it
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.norm, self.inner, self.dropout = nn.LayerNorm(8), nn.Linear(8, 8), dropout
        self.attention = nn.MultiheadAttention(8, 2, dropout=dropout, batch_first=True)

    def forward(self, x):
        x = x + self.attention(x, x, x, need_weights=False)[0]
        return x + nn.functional.dropout(self.inner(self.norm(x)), self.dropout, self.training)


torch.manual_seed(0)
model = nn.Sequential(Block(), nn.Dropout(0.0), nn.GRU(8, 8, batch_first=True))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x in torch.randn(5, 4, 6, 8):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x)[0], x).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(model(torch.randn(2, 6, 8))[0].mean().item())
