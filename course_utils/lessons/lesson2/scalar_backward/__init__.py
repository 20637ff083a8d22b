"""Exercise 2.6."""
