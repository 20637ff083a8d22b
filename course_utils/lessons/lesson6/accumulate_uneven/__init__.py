"""Exercise 6.2."""
