# bug: B05
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(5)


class TinyLM(nn.Module):
    def __init__(self, vocab=16, dim=8):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.block = nn.TransformerEncoderLayer(dim, 2, 16, dropout=0.0, batch_first=True)
        self.lm_head = nn.Linear(dim, vocab, bias=False)

    def forward(self, idx):
        mask = nn.Transformer.generate_square_subsequent_mask(idx.size(1))
        return self.lm_head(self.block(self.tok(idx), src_mask=mask))


def get_batch():
    chunk = torch.randint(0, 16, (4, 7))
    return chunk[:, :-1], chunk[:, 1:]


model = TinyLM()
params = list(model.parameters())
optimizer = torch.optim.AdamW(params, lr=1e-3, betas=(0.9, 0.95))
micro_steps = 2
iter_num, max_iters = 0, 7

while iter_num < max_iters:
    for _ in range(micro_steps):
        X, Y = get_batch()
        logits = model(X)
        loss = F.cross_entropy(logits.reshape(-1, 16), Y.reshape(-1)) / micro_steps
        loss.backward()
    optimizer.step()
    for p in params:
        p.grad = None
    iter_num += 1

print(f"iter {iter_num}: loss {loss.item() * micro_steps:.4f}")
