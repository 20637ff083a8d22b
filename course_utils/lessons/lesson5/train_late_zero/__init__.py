"""Exercise 5.3."""
