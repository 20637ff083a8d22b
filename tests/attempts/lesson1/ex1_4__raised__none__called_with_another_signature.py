def gradient_descent(f, x0, lr):
    return [x0]
