"""The one exception that stands for a mistake of the user's rather than a fault of minitx."""


class UserError(Exception):
    """A mistake that the user can mend.

    The message is one or two plain sentences that name the file, line, key or value at fault and the remedy. The
    command line prints it without a traceback and ends with exit status 2.
    """
