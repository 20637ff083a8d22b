"""Exercise 6.8."""
