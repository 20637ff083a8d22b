"""Exercise 6.7."""
