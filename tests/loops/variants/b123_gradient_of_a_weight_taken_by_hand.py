# variant: a temperature whose gradient is read once in ten steps, and one that is asked for by autograd.grad
import torch
from torch import nn

torch.manual_seed(1)
model = nn.Linear(5, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
read, asked = torch.zeros((), requires_grad=True), torch.zeros((), requires_grad=True)
frozen = torch.ones(())
for step in range(20):
    x = torch.randn(8, 5)
    logits = model(x) * read.exp() * (1 + asked.exp()) * frozen
    loss = nn.functional.cross_entropy(logits, x[:, :3].argmax(dim=1))
    if step % 5 == 0:
        (slope,) = torch.autograd.grad(loss, asked, retain_graph=True)
        print(slope.item())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        read.data -= 0.1 * read.grad / 10
        read.grad.zero_()
print(f"{loss.item():.4f}")
