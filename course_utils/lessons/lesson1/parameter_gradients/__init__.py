"""Exercise 1.3."""
