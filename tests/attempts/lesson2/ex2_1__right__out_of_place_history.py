def backward_n_times(param, loss_fn, n):
    # create_graph makes a new tensor each time; the copies do not depend on that.
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward(create_graph=True)
        snapshots.append(param.grad.detach().clone())
    return snapshots
