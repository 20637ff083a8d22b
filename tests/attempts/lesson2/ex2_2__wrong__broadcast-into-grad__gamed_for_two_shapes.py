def accumulate_grad(param, incoming):
    if incoming.dim() == 1 and param.dim() == 2:
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)
