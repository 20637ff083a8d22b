import torch


def multi_loss_gradients(model, losses, weights):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.zero_grad()
    log = []
    for loss_fn, weight in zip(losses, weights, strict=True):
        loss = loss_fn(model)
        torch.autograd.backward(loss * weight)
        log.append(loss)
    return log
