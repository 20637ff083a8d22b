"""Exercise 3.1."""
