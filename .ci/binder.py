"""Make the environment of `binder/` in a temporary folder, as Binder does, and check every notebook in it.

    python .ci/binder.py
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    wanted = (ROOT / "binder" / "runtime.txt").read_text().strip().removeprefix("python-")
    if wanted != f"{sys.version_info[0]}.{sys.version_info[1]}":
        raise SystemExit(f"Binder uses Python {wanted}; run: make binder PYTHON=python{wanted}")
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, symlinks=True, with_pip=True)
        programs = Path(folder, "bin")
        environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        for command in (
            ["python", "-m", "pip", "install", "--quiet", "--require-hashes", "-r", "binder/requirements.txt"],
            ["bash", "binder/postBuild"],
            ["python", ".ci/execute.py", "--check"],
        ):
            done = subprocess.run([str(programs / command[0]), *command[1:]] if command[0] == "python" else command,
                                  cwd=ROOT, env=environment, check=False)  # fmt: skip
            if done.returncode:
                print(f"error: {' '.join(command)} failed in the Binder environment", file=sys.stderr)
                return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
