"""The command `questree`, also `python -m questree`."""

import atexit
import gc
import os
import sys

INTERRUPTED, UNFORESEEN = 130, 70
OBJECTS = 50_000  # new ones before garbage is looked for: what is imported is none, and columns are few objects


def main() -> None:
    try:
        from questree.cli.app import main as work  # takes a moment, in which people press Ctrl-C

        work()
    except KeyboardInterrupt as stop:  # whoever keeps something else than shards says so in it
        print(f"interrupted; nothing half-written is left, {str(stop) or 'finished shards are kept'}", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":  # polars' own
            raise
        from questree.unforeseen import unforeseen

        print(unforeseen(error), file=sys.stderr)
        sys.exit(UNFORESEEN)


def process() -> None:
    """`main` as a whole process, which ends at once: taking down what was imported takes longer than many commands."""
    gc.set_threshold(OBJECTS)
    os.environ.setdefault("RUST_BACKTRACE", "0")  # polars would print pages about a damaged file before we say a line
    try:
        main()
    except SystemExit as end:
        atexit._run_exitfuncs()
        try:
            sys.stdout.flush()
        except OSError:  # full disk, nobody reads: Python says so
            raise end from None
        os._exit(end.code if isinstance(end.code, int) else 0)


if __name__ == "__main__":
    process()
