# variant: two optimizers taking turns on one loss (matrix factors), each cleared before its own backward
import torch

torch.manual_seed(0)
ratings = torch.randn(12, 3) @ torch.randn(3, 9)
users = torch.randn(12, 3).requires_grad_()
items = torch.randn(9, 3).requires_grad_()
opt_users = torch.optim.Adam([users], lr=0.05)
opt_items = torch.optim.Adam([items], lr=0.05)

for it in range(20):
    optimizer = opt_users if it % 2 == 0 else opt_items
    optimizer.zero_grad()
    loss = ((users @ items.T - ratings) ** 2).mean() + 1e-3 * (users.pow(2).mean() + items.pow(2).mean())
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
