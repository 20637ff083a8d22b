"""Exercise 7.5."""
