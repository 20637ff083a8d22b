# variant: without a scaler the loss is divided by the window before backward; with one the unscaled gradients are
# divided after unscale_ - each branch divides exactly once, before clip and step.
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

CLASSES = 5


def make_reviews(n, vocab=200, length=20, seed=0):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, CLASSES, (n,), generator=g)
    x = torch.randint(0, vocab, (n, length), generator=g)
    hint = torch.rand(n, length, generator=g) < 0.2
    cue = y[:, None] * 7 + torch.randint(0, 7, (n, length), generator=g)
    return torch.where(hint, cue, x), y


class TextCNN(nn.Module):
    def __init__(self, vocab=200, dim=32):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.convs = nn.ModuleList([nn.Conv1d(dim, 32, k, padding=k // 2) for k in (1, 3)])
        self.fc = nn.Linear(64, CLASSES)

    def forward(self, ids):
        e = self.emb(ids).transpose(1, 2)
        return self.fc(torch.cat([F.relu(c(e)).amax(-1) for c in self.convs], 1))


def train_epoch(model, batches, optimizer, accum, scaler=None):
    model.train()
    optimizer.zero_grad()
    total = 0.0
    for i, (x, y) in enumerate(batches):
        boundary = (i + 1) % accum == 0
        if scaler is not None:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = F.cross_entropy(model(x).float(), y)
            scaler.scale(loss).backward()
            if boundary:
                scaler.unscale_(optimizer)
                for p in model.parameters():
                    p.grad.div_(accum)
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
        else:
            loss = F.cross_entropy(model(x), y)
            (loss / accum).backward()
            if boundary:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
        total += loss.item()
    return total / len(batches)


def run(use_scaler, args):
    torch.manual_seed(13)
    x, y = make_reviews(1024)
    model = TextCNN()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0) if use_scaler else None
    for epoch in range(args.epochs):
        # 1024 / 16 = 64 equal micro-batches: whole windows only
        batches = [(x[i], y[i]) for i in torch.randperm(len(x)).split(16)]
        assert len(batches) % args.accum == 0
        loss = train_epoch(model, batches, optimizer, args.accum, scaler)
        print(f"scaler={use_scaler} epoch {epoch} loss {loss:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--accum", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    run(False, args)
    run(True, args)
