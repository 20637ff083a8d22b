"""Exercise 3.5."""
