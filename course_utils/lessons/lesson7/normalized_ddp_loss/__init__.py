"""Exercise 7.6."""
