"""Exercise 3.2."""
