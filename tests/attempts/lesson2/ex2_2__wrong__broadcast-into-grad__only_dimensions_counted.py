def accumulate_grad(param, incoming):
    if param.dim() != incoming.dim():
        raise ValueError("wrong number of dimensions")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)
