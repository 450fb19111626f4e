"""Runs a tutorial page: every ```sh block in order, in an empty folder, and compares what it prints with the ```text
block that follows. Durations are left out of the comparison. --write puts the real output into the page instead.

    python3 tests/tutorial.py PAGE [--write]
"""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"```sh\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.S)
DURATION = re.compile(r"\b\d+(\.\d+)? ?(ms|s|min|h)\b")
ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(commands, folder):
    """Standard output of the commands; what goes to stderr is shown when they fail."""
    done = subprocess.run(["sh", "-ec", commands], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"not ok: exit code {done.returncode}\n{commands}\n{done.stdout[-1000:]}{done.stderr[-1000:]}")
    return done.stdout


def plain(text):
    return [re.sub(" +", " ", DURATION.sub("#", line)).rstrip() for line in text.splitlines()]


def main(page, write):
    text = page.read_text()
    folder = pathlib.Path(tempfile.mkdtemp())
    for name in ("examples", "wordlists"):
        (folder / name).symlink_to(ROOT / name)
    os.environ["PATH"] = f"{ROOT / 'build'}:{os.environ['PATH']}"
    wrong, shown = 0, 0

    def each(match):
        nonlocal wrong, shown
        commands, expected = match.group(1), match.group(2)
        if commands.startswith("make"):
            return match.group(0)
        printed = run(commands, folder)
        if expected is None:
            return match.group(0)
        shown += 1
        if plain(printed) != plain(expected):
            wrong += 1
            if not write:
                print(f"not ok: {commands.strip()}")
                print("\n".join(difflib.unified_diff(plain(expected), plain(printed), "the page", "what it prints", lineterm="")))
        return f"```sh\n{commands}```\n\n```text\n{printed.rstrip()}\n```\n" if plain(printed) != plain(expected) else match.group(0)

    new = BLOCK.sub(each, text)
    shutil.rmtree(folder)
    if write:
        page.write_text(new)
        print(f"{page}: {shown} outputs, {wrong} rewritten")
    elif wrong or shown < 5:
        sys.exit(f"not ok: {wrong} of {shown} outputs differ; python3 tests/tutorial.py {page} --write, and look at the change")
    else:
        print(f"ok: {shown} outputs are as {page} shows them")


main(pathlib.Path(sys.argv[1]).absolute(), "--write" in sys.argv)
