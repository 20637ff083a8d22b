def linear_mse_gradient(w, x, y):
    prediction = x.matmul(w)
    residual = prediction.sub(y)
    d_loss = 1.0
    d_square = residual.new_full(residual.shape, d_loss / residual.numel())
    d_residual = d_square * 2 * residual
    d_prediction = d_residual
    return x.mT.matmul(d_prediction)
