# bug: B232
# id: stepped-at-rate-zero
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset


def get_linear_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps):
    def lr_lambda(current_step):
        if current_step < num_warmup_steps:
            return float(current_step) / float(max(1, num_warmup_steps))
        left = float(num_training_steps - current_step)
        return max(0.0, left / float(max(1, num_training_steps - num_warmup_steps)))

    return LambdaLR(optimizer, lr_lambda)


torch.manual_seed(42)
epochs = 1
texts = torch.randint(1, 50, (128, 6))
labels = (texts.float().mean(1) > 25).long()
loader = DataLoader(TensorDataset(texts, labels), batch_size=8, shuffle=True)

model = nn.Sequential(nn.Embedding(50, 16), nn.Flatten(), nn.Linear(96, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=2, num_training_steps=len(loader) * epochs)

for epoch in range(epochs):
    model.train()
    total = 0.0
    for batch, target in loader:
        model.zero_grad()
        loss = nn.functional.cross_entropy(model(batch), target)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    scheduler.step()  # <-- bug
    print(f"epoch {epoch}: average training loss {total / len(loader):.3f}")
