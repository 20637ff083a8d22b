"""Exercise 4.2."""
