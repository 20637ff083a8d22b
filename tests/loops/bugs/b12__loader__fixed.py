# bug: B12
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
from torch.utils.data import DataLoader, TensorDataset


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(25, 8)
        layer = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.cls = nn.Linear(8, 2)

    def forward(self, ids):
        return self.cls(self.enc(self.emb(ids)).mean(1))


def main():
    torch.manual_seed(10)
    loader = DataLoader(TensorDataset(torch.randint(0, 25, (48, 5)), torch.randint(0, 2, (48,))), batch_size=4)
    model = Encoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    gradient_accumulation_steps, max_grad_norm = 2, 0.1
    model.zero_grad()
    for step, (ids, labels) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(ids), labels)
        loss = loss / gradient_accumulation_steps
        loss.backward()
        if (step + 1) % gradient_accumulation_steps == 0:
            clip_grad_norm_(model.parameters(), max_grad_norm)
            optimizer.step()
            model.zero_grad()
    print("loss", round(loss.item(), 4))


main()
