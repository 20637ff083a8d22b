"""Exercise 5.5."""
