"""Exercise 4.6."""
