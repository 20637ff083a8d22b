# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # How to zero gradients
#
# What this lesson is about.

# %% exercise="3.1"
def clear_gradients(params, set_to_none=True):
    """Clear the .grad of every tensor in params: to None, or to zeros in the same tensor."""
    ### BEGIN SOLUTION
    for param in params:
        if set_to_none:
            param.grad = None
        elif param.grad is not None:
            param.grad.zero_()
    ### END SOLUTION

# %% exercise="3.2"
def optimizer_zero_grad(optimizer, set_to_none=True):
    """Clear the .grad of every parameter that the optimizer holds, and nothing else."""
    ### BEGIN SOLUTION
    for group in optimizer.param_groups:
        for param in group["params"]:
            if set_to_none:
                param.grad = None
            elif param.grad is not None:
                param.grad.zero_()
    ### END SOLUTION

# %% exercise="3.3"
def freeze(module):
    """Take the parameters of module out of training, whatever the optimizer does later."""
    ### BEGIN SOLUTION
    for param in module.parameters():
        param.requires_grad_(False)
        param.grad = None
    ### END SOLUTION

# %% exercise="3.4"
def zeroing_traffic(model, set_to_none):
    """The bytes that clearing and accumulating read and write in one step, as one number."""
    ### BEGIN SOLUTION
    if set_to_none:
        return 0
    trainable = [p for p in model.parameters() if p.requires_grad]
    gradients = sum(p.numel() * p.element_size() for p in trainable)
    written_by_zero, read_by_add, written_by_add = gradients, 2 * gradients, gradients
    return written_by_zero + read_by_add + written_by_add
    ### END SOLUTION

# %% exercise="3.5"
def train_step_low_memory(model, optimizer, loss_fn, x, y):
    """One step on the batch x, y, with no .grad alive in the forward pass; the loss before it."""
    ### BEGIN SOLUTION
    optimizer.zero_grad(set_to_none=True)
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()
    ### END SOLUTION
