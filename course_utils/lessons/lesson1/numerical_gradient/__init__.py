"""Exercise 1.1."""
