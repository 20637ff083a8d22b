"""Exercise 7.2."""
