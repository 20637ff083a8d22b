import torch


def multi_loss_gradients(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        loss = torch.tensor(weight * loss_fn(model).item())
        loss.backward()
