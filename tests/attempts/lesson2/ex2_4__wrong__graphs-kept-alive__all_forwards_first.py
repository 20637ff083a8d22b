def multi_loss_gradients(model, losses, weights):
    model.zero_grad()
    values = [loss_fn(model) for loss_fn in losses]
    for value, weight in zip(values, weights):
        (weight * value).backward()
