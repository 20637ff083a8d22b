def multi_loss_gradients(model, losses, weights):
    for p in model.parameters():
        p.grad.zero_()
    for loss_fn, weight in zip(losses, weights):
        (weight * loss_fn(model)).backward()
