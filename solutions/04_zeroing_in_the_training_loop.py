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
# # Where zeroing fits in the loop
#
# What this lesson is about.

# %%
import torch
from torch import nn

# %% exercise="4.1"
def train_step(model, optimizer, loss_fn, x, y):
    """One right step on the batch (x, y), whatever .grad holds; returns the loss before it."""
    ### BEGIN SOLUTION
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()
    ### END SOLUTION

# %% exercise="4.2"
def train(model, optimizer, loss_fn, batches, epochs):
    """One step a batch in each epoch; returns each epoch's mean loss over its samples."""
    ### BEGIN SOLUTION
    losses = []
    for _ in range(epochs):
        total, samples = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            samples += len(x)
        losses.append(total / samples)
    return losses
    ### END SOLUTION

# %% exercise="4.3"
def is_valid_order(events):
    """Whether each step uses the gradients since the step before it, and none is lost."""
    ### BEGIN SOLUTION
    waiting = used = False  # what .grad holds: gradients for the next step, or of the last one
    for event in events:
        if event == "zero":
            if waiting:
                return False
            used = False
        elif event == "backward":
            if used:
                return False
            waiting = True
        elif event == "step":
            if used:
                return False
            waiting, used = False, waiting
    return not waiting
    ### END SOLUTION

# %% exercise="4.4"
def train_step_clipped(model, optimizer, loss_fn, x, y, max_norm):
    """One step with the gradient clipped to max_norm; (loss, total norm before clipping)."""
    ### BEGIN SOLUTION
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    total_norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item(), total_norm.item()
    ### END SOLUTION

# %% exercise="4.5"
def adversarial_step(
    generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise
):
    """A step of the discriminator, then one of the generator; returns both losses."""
    ### BEGIN SOLUTION
    fake = generator(noise)
    d_optimizer.zero_grad()
    on_real, on_fake = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(on_real, torch.ones_like(on_real))
    d_loss = d_loss + loss_fn(on_fake, torch.zeros_like(on_fake))
    d_loss.backward()
    d_optimizer.step()

    g_optimizer.zero_grad()
    judged = discriminator(fake)
    g_loss = loss_fn(judged, torch.ones_like(judged))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()
    ### END SOLUTION

# %% exercise="4.6"
def closure_step(model, optimizer, loss_fn, x, y):
    """One LBFGS step on the batch (x, y); returns the loss before it."""
    ### BEGIN SOLUTION
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure).item()
    ### END SOLUTION
