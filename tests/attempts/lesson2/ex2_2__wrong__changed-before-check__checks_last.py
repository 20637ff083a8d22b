import torch


def accumulate_grad(param, incoming):
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    try:
        param.grad.add_(incoming)
    except RuntimeError as error:
        raise ValueError("wrong shape") from error
    if incoming.shape != param.shape:
        raise ValueError("wrong shape")
