import torch


def per_sample_gradients(model, loss_fn, x, y):
    saved = {p: p.grad for p in model.parameters()}
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    out = {n: x.new_zeros((len(x), *p.shape)) for n, p in named}
    try:
        for i in range(x.shape[0]):
            for _, p in named:
                p.grad = None
            loss_fn(model(x[i][None]), y[i][None]).backward()
            for n, p in named:
                if p.grad is not None:
                    out[n][i] = p.grad
    finally:
        for p, g in saved.items():
            p.grad = g
    return out
