"""Exercise 2.4."""
