def gradient_descent(f, x0, lr, steps):
    x = x0.clone().detach().requires_grad_()
    points = [x0.clone()]
    for _ in range(steps):
        f(x).backward()
        x -= lr * x.grad
        x.grad.zero_()
        points.append(x.detach().clone())
    return points
