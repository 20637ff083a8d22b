"""What a learner sees: text and HTML, made from a Verdict or a record and nothing else."""
