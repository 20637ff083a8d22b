"""Exercise 5.1."""
