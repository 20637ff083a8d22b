def multi_loss_gradients(model, losses, weights):
    model.zero_grad()
    for loss in losses:
        loss.backward()
