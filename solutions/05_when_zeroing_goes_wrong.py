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
# # What happens when it goes wrong
#
# What this lesson is about.

# %% exercise="5.1"
def diagnose(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="5.2"
def train_missing_zero(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="5.3"
def train_late_zero(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="5.4"
def train_zero_per_epoch(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="5.5"
def train_leaky_saliency(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="5.6"
def train_swapped_layer(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="5.7"
def train_kept_running_loss(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="5.8"
def momentum_twin(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="5.9"
def stale_steps(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
