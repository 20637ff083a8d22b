"""One directional derivative for each entry of each parameter: slow, and right."""

import torch
from torch.func import functional_call, jvp


def parameter_gradients(model, loss_fn, x, y):
    values = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}

    def loss(values):
        return loss_fn(functional_call(model, values, (x,)), y)

    result = {}
    for name, value in values.items():
        slopes = []
        for unit in torch.eye(value.numel(), dtype=value.dtype, device=value.device):
            direction = {n: torch.zeros_like(v) for n, v in values.items()}
            direction[name] = unit.reshape(value.shape)
            slopes.append(jvp(loss, (values,), (direction,))[1])
        result[name] = torch.stack(slopes).reshape(value.shape)
    return result
