"""Exercise 5.4."""
