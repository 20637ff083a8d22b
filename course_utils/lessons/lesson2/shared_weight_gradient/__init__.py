"""Exercise 2.3."""
