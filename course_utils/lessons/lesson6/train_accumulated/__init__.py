"""Exercise 6.5."""
