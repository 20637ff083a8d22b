"""Exercise 6.6."""
