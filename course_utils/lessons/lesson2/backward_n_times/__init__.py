"""Exercise 2.1."""
