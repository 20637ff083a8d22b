"""Exercise 1.4."""
