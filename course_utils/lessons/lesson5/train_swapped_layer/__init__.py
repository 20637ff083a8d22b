"""Exercise 5.6."""
