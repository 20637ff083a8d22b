def multi_loss_gradients(model, losses, weights):
    model.zero_grad()
    (weights[-1] * losses[-1](model)).backward()
