"""Exercise 2.5."""
