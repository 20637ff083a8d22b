"""Exercise 4.1."""
