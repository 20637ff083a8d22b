"""Exercise 6.1."""
