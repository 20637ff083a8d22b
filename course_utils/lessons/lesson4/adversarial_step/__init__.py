"""Exercise 4.5."""
