# bug: B74
import torch
import torch.nn as nn
from torch.nn import functional as F

vocab_size, block_size, n_embd = 17, 6, 8
batch_size, gradient_accumulation_steps = 3, 4
max_iters, eval_interval = 9, 4
data = torch.randint(0, vocab_size, (300,), generator=torch.Generator().manual_seed(1))
train_data, val_data = data[:240], data[240:]


def get_batch(split):
    source = train_data if split == "train" else val_data
    ix = torch.randint(len(source) - block_size, (batch_size,))
    x = torch.stack([source[i : i + block_size] for i in ix])
    y = torch.stack([source[i + 1 : i + block_size + 1] for i in ix])
    return x, y


class TinyGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, n_embd)
        self.wpe = nn.Embedding(block_size, n_embd)
        self.block = nn.TransformerEncoderLayer(n_embd, 2, 2 * n_embd, dropout=0.0, batch_first=True)
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)

    def forward(self, idx, targets):
        h = self.wte(idx) + self.wpe(torch.arange(idx.size(1)))
        mask = torch.full((idx.size(1), idx.size(1)), float("-inf")).triu(1)
        logits = self.lm_head(self.block(h, src_mask=mask))
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())


@torch.no_grad()
def estimate_loss():
    model.eval()
    out = {split: sum(model(*get_batch(split))[1].item() for _ in range(3)) / 3 for split in ("train", "val")}
    model.train()
    return out


torch.manual_seed(1337)
model = TinyGPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95))

X, Y = get_batch("train")
for iter_num in range(max_iters):
    if iter_num % eval_interval == 0:
        losses = estimate_loss()
        print(f"step {iter_num}: train {losses['train']:.4f}, val {losses['val']:.4f}")
    for micro_step in range(gradient_accumulation_steps):
        logits, loss = model(X, Y)
        loss = loss / gradient_accumulation_steps
        X, Y = get_batch("train")
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
