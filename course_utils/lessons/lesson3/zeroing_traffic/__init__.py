"""Exercise 3.4."""
