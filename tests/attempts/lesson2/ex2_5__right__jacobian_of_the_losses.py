import torch
from torch.func import functional_call, jacrev


def per_sample_gradients(model, loss_fn, x, y):
    params = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}

    def losses(params):
        predictions = functional_call(model, params, (x,))
        return torch.stack([loss_fn(p, t) for p, t in zip(predictions.split(1), y.split(1))])

    return jacrev(losses)(params)
