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

# %% exercise="4.1"
def train_step(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="4.2"
def train(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="4.3"
def is_valid_order(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="4.4"
def train_step_clipped(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="4.5"
def adversarial_step(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="4.6"
def closure_step(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
