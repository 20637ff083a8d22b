"""Exercise 1.5."""
