import torch


def multi_loss_gradients(model, losses, weights):
    for p in model.parameters():
        p.grad = None
    for loss_fn, weight in zip(losses, weights):
        loss = loss_fn(model)
        loss.backward(gradient=torch.full_like(loss, weight))
