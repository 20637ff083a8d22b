"""Exercise 6.3."""
