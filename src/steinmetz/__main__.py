"""`python -m steinmetz`."""

from steinmetz.cli import main

main()
