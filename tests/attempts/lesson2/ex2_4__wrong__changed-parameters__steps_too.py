import torch


def multi_loss_gradients(model, losses, weights):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        (weight * loss_fn(model)).backward()
    optimizer.step()
