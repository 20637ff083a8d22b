def accumulate_grad(param, incoming):
    if param.shape != incoming.shape:
        print("wrong shape")
        return
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)
