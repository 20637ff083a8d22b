def backward_n_times(param, loss_fn, n):
    if param.grad is not None:
        param.grad.zero_()
    grads = []
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        grads += [param.grad.detach().clone()]
    return grads
