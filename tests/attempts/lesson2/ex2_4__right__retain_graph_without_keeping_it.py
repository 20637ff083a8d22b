def multi_loss_gradients(model, losses, weights):
    # Nothing names the loss after its backward, so the retained graph goes at once.
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        (weight * loss_fn(model)).backward(retain_graph=True)
