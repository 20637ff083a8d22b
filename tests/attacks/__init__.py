"""Attacks on grading: notebooks, archives and folders that somebody hands in to cheat, to spy or to break something.

One module a family; each attack is a function under `@attack("what it tries")` or `@layout(…)`. `bank` says what such
a function is given and gives; `proofs` says what must hold after every attack, whatever it tried.
"""
