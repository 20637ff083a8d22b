"""Exercise 7.1."""
