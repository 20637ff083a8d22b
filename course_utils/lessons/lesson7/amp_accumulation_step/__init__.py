"""Exercise 7.3."""
