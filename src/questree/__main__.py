"""The command `questree`, also `python -m questree`."""

import sys

INTERRUPTED = 130


def main() -> None:
    try:
        from questree.cli.app import main as work  # takes a moment, in which people press Ctrl-C

        work()
    except KeyboardInterrupt:
        print("interrupted; nothing half-written is left, finished shards are kept", file=sys.stderr)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
