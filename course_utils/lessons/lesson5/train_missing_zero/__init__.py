"""Exercise 5.2."""
