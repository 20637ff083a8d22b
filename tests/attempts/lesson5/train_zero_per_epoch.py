"""Attempts at exercise 5.4, train_zero_per_epoch: those at any loop with one step a batch; the bank of 5.2 holds more."""

SHARED = ("_one_step_a_batch",)
