"""Exercise 7.7."""
