"""Exercise 2.7."""
