"""What a user can mend."""


class UserError(Exception):
    """A fault the user can mend: its one-line message is shown without a traceback."""
