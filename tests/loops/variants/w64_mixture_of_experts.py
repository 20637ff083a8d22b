# variant: mixture of experts, top-1 routing: experts without a token in a micro-batch get nothing from it
# window: 4
# reference: yes
import torch
from torch import nn


class MoE(nn.Module):
    def __init__(self, dim: int, n_experts: int) -> None:
        super().__init__()
        self.gate = nn.Linear(dim, n_experts)
        self.experts = nn.ModuleList(nn.Linear(dim, dim) for _ in range(n_experts))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight, choice = self.gate(x).softmax(-1).max(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows = (choice == i).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            out = out.index_add(0, rows, weight[rows].unsqueeze(1) * expert(x[rows]))
        return out


torch.manual_seed(0)
model = MoE(5, 6).double()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
micro_batches: tuple[torch.Tensor, ...] = ()


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    x = torch.cat(micro_batches)
    with torch.enable_grad():
        loss = (model(x) - x.flip(1)).pow(2).mean()
    grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
    return {name: g for name, g in zip(named, grads) if g is not None}


for step in range(5):
    micro_batches = torch.randn(12, 5, dtype=torch.float64).chunk(4)
    for x in micro_batches:
        loss = (model(x) - x.flip(1)).pow(2).mean() / 4
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)

print(f"{loss.item():.4f}")
