def multi_loss_gradients(model, losses, weights):
    model.zero_grad(set_to_none=False)
    for i in range(len(losses)):
        if weights[i] == 0:
            continue
        (losses[i](model) * weights[i]).backward()
    return model
