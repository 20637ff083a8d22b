def multi_loss_gradients(model, losses, weights):
    for loss_fn, weight in zip(losses, weights):
        (weight * loss_fn(model)).backward()
