"""Exercise 5.7."""
