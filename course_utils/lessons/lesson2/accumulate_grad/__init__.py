"""Exercise 2.2."""
