"""The two exceptions a user is meant to read."""


class InputError(ValueError):
    """Wrong input: one sentence that says what was asked, what was got and what is possible.

    The command line prints it and leaves with exit code 2. Everything that can raise it runs before
    a result directory is touched.
    """


class RunFailure(RuntimeError):
    """A run that could not give a result: one sentence with what to try. Exit code 1."""
