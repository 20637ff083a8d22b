def backward_n_times(param, loss_fn, n):
    param.grad = None
    loss = loss_fn(param)
    snapshots = []
    for _ in range(n):
        loss.backward()
        snapshots.append(param.grad.clone())
    return snapshots
