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
# # Gradient accumulation
#
# What this lesson is about.

# %% exercise="6.1"
def accumulate_equal(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="6.2"
def accumulate_uneven(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="6.3"
def accumulate_tokens(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="6.4"
def plan_windows(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="6.5"
def train_accumulated(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="6.6"
def make_accumulation_safe(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="6.7"
def largest_micro_batch(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="6.8"
def fuse_optimizer_into_backward(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
