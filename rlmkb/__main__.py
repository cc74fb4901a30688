"""``python -m rlmkb``."""

from rlmkb.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
