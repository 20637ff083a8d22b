"""Exercise 5.9."""
