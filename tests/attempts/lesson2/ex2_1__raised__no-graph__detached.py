def backward_n_times(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss_fn(param.detach()).backward()
        snapshots.append(param.grad.clone())
    return snapshots
