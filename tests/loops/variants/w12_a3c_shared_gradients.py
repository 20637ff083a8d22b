# variant: A3C style: the worker's gradients are handed to the shared model by reference, both cleared every round
import torch
from torch import nn

torch.manual_seed(0)
shared_model = nn.Linear(4, 2)
workers = [nn.Linear(4, 2) for _ in range(2)]
optimizer = torch.optim.SGD(shared_model.parameters(), lr=0.05)


def ensure_shared_grads(model: nn.Module, shared: nn.Module) -> None:
    for param, shared_param in zip(model.parameters(), shared.parameters()):
        shared_param._grad = param.grad


for episode in range(6):
    model = workers[episode % 2]
    model.load_state_dict(shared_model.state_dict())
    states, returns = torch.randn(8, 4), torch.randn(8)
    log_probs = torch.log_softmax(model(states), dim=-1)[:, 0]
    policy_loss = -(log_probs * returns).mean()
    model.zero_grad()
    optimizer.zero_grad()
    policy_loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 40)
    ensure_shared_grads(model, shared_model)
    optimizer.step()

print(f"{policy_loss.item():.4f}")
