"""Exercise 5.8."""
