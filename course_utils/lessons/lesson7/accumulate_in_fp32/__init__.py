"""Exercise 7.4."""
