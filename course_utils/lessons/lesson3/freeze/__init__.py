"""Exercise 3.3."""
