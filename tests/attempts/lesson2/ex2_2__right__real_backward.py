def accumulate_grad(param, incoming):
    try:
        param.backward(gradient=incoming)
    except RuntimeError as error:
        raise ValueError(str(error)) from error
