def backward_n_times(param, loss_fn, n):
    param.grad = None
    loss = loss_fn(param)
    out = []
    for _ in range(n):
        loss.backward(retain_graph=True)
        out.append(param.grad.clone())
    return out
