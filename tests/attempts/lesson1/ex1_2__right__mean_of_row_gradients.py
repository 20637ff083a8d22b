def linear_mse_gradient(w, x, y):
    residual = (x * w).sum(dim=1) - y
    per_row = 2 * residual.unsqueeze(1) * x
    return per_row.mean(dim=0)
