"""`python -m questree` is the command `questree`."""

from questree.cli.app import main

if __name__ == "__main__":
    main()
