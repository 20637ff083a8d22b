def gradient_descent(f, x0, lr, steps):
    x = x0.clone()
    points = [x0.clone()]
    for _ in range(steps):
        f(x).backward()
        x = x - lr * x.grad
        points.append(x)
    return points
