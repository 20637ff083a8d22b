"""Exercise 6.4."""
