"""Exercise 1.2."""
