import torch


def per_sample_gradients(model, loss_fn, x, y):
    saved = [(p, p.grad) for p in model.parameters()]
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}

    def take(name):
        def hook(p):
            rows[name].append(p.grad)
            p.grad = None

        return hook

    for name, p in named.items():
        p.grad = None
        p.register_post_accumulate_grad_hook(take(name))
    for xi, yi in zip(x.split(1), y.split(1)):
        loss_fn(model(xi), yi).backward()
    for p, g in saved:
        p.grad = g
    return {n: torch.stack(r) if r else named[n].new_zeros(len(x), *named[n].shape) for n, r in rows.items()}
