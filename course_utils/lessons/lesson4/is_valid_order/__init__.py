"""Exercise 4.3."""
