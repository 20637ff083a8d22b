def multi_loss_gradients(model, losses, weights):
    for p in model.parameters():
        del p.grad
    pairs = list(zip(losses, weights))
    while pairs:
        loss_fn, weight = pairs.pop()
        loss_fn(model).mul(weight).backward()
