"""Right answers, and the answers each misconception gives. Imported by judging alone.

What runs a learner's code never imports this package: in the grader's sandbox it does not exist.
"""
