"""Exercise 4.4."""
