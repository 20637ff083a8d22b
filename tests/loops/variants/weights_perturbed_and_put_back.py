# variant: AWP - clean gradients, weights pushed aside, adversarial gradients added on purpose, weights put back
# BEFORE clip and step, gradients cleared after it.
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class AWP:
    """Adversarial weight perturbation, as often used in text-scoring contests."""

    def __init__(self, model, adv_param="weight", adv_lr=0.05, adv_eps=0.01):
        self.model = model
        self.adv_param = adv_param
        self.adv_lr = adv_lr
        self.adv_eps = adv_eps
        self.backup = {}

    @torch.no_grad()
    def perturb(self, e=1e-6):
        for name, p in self.model.named_parameters():
            if p.grad is None or self.adv_param not in name:
                continue
            g_norm, w_norm = p.grad.norm(), p.norm()
            if g_norm == 0 or not torch.isfinite(g_norm):
                continue
            self.backup[name] = p.clone()
            limit = self.adv_eps * p.abs()
            low, high = p - limit, p + limit
            p.add_(self.adv_lr * p.grad / (g_norm + e) * (w_norm + e))
            p.copy_(torch.max(torch.min(p, high), low))

    @torch.no_grad()
    def restore(self):
        for name, p in self.model.named_parameters():
            if name in self.backup:
                p.copy_(self.backup[name])
        self.backup = {}


class EssayScorer(nn.Module):
    def __init__(self, vocab=120, dim=32):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 1))

    def forward(self, ids):
        out, _ = self.gru(self.emb(ids))
        return self.head(out.mean(1)).squeeze(-1)


def main():
    torch.manual_seed(17)
    ids = torch.randint(0, 120, (960, 16))
    quality = torch.randn(120)
    score = quality[ids].mean(1) * 3 + 0.1 * torch.randn(960)
    train = DataLoader(TensorDataset(ids[:800], score[:800]), batch_size=40, shuffle=True)

    model = EssayScorer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    criterion = nn.SmoothL1Loss()
    awp = AWP(model)
    awp_start_epoch = 2

    for epoch in range(7):
        model.train()
        total = 0.0
        for x, y in train:
            loss = criterion(model(x), y)
            loss.backward()
            if epoch >= awp_start_epoch:
                awp.perturb()
                adv_loss = criterion(model(x), y)
                adv_loss.backward()
                awp.restore()
            nn.utils.clip_grad_norm_(model.parameters(), 10.0)
            optimizer.step()
            optimizer.zero_grad()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            val = criterion(model(ids[800:]), score[800:]).item()
        print(f"epoch {epoch} train {total / len(train):.4f} val {val:.4f}")


if __name__ == "__main__":
    main()
