"""Exercise 1.6."""
