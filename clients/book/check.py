"""Runs what the pages of the book say, and compares what is printed with what stands there.

    SHELFMARK_BIN=… SHELFMARK_EXAMPLES=… check.py [SITE] [--only PAGE] [--bless]

In the output on a page `…` stands for anything within a line, and a line of it alone for any lines. With
`--bless` output without `…` is written anew. SITE is the built book: it must load nothing from elsewhere.
What blocks may say of themselves is in `blocks`.
"""

import argparse
import pathlib
import re
import sys

from blocks import blocks
from session import ROOT, Session

PAGES = ROOT / "docs" / "book"
RECIPES = ROOT / "models" / "recipes"
LOADED = re.compile(r"""<(?:script|img|link|iframe|source)\b[^>]*?(?:src|href)=["']?((?:https?:)?//[^"'> ]+)""")
LOADED_BY_STYLE = re.compile(r"""(?:url\(|@import )["']?((?:https?:)?//[^"') ]+)""")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("site", nargs="?", type=pathlib.Path)
    parser.add_argument("--only")
    parser.add_argument("--bless", action="store_true")
    words = parser.parse_args()
    problems, passed = [], 0
    if words.site:
        problems += foreign(words.site)
    for page in sorted(PAGES.rglob("*.md")):
        if words.only and words.only not in str(page):
            continue
        found, ran = check(page, words.bless)
        problems += found
        passed += max(0, ran - len(found))
        print(f"{page.relative_to(ROOT)}: {ran} commands" + (f", {len(found)} wrong" if found else ""), flush=True)
    if not words.only:
        problems += unproven()
    for problem in problems:
        print(problem)
    print(f"book: {passed} passed, {len(problems)} failed")
    return 1 if problems or not passed else 0


def check(page, bless):
    """Runs one page. Returns its problems, and how many commands ran."""
    name, problems, ran, anew = page.relative_to(ROOT), [], 0, []
    try:
        found = blocks(page)
        with Session() as session:
            for block in found:
                if block.directive == "file":
                    session.write(block.value, block.lines)
                elif block.directive == "from":
                    problems += compare_with_source(name, block)
                elif block.language == "console":
                    commands = block.commands()
                    for command in commands:
                        is_last = block.directive == "exits" and command is commands[-1]
                        expected_code = int(block.value) if is_last else 0
                        problem, printed = run(session, command, expected_code)
                        ran += 1
                        if problem:
                            problems.append(f"{name}:{command.number}: {problem}")
                            anew.append((command, printed))
    except ValueError as error:
        return problems + [f"{name}: {error}"], ran
    if bless:
        write_anew(page, anew)
    return problems, ran


def run(session, command, expected_code):
    """Runs one command. Returns what is wrong, if anything is, and what it printed."""
    pattern = re.compile(expression(command.output))
    printed, code = session.run(command.text, lambda lines: pattern.fullmatch("\n".join(lines) + "\n"))
    if code != expected_code:
        return f"exit code {code} of `{command.text}`:\n    " + "\n    ".join(printed), printed
    if pattern.fullmatch("\n".join(printed) + "\n"):
        return None, printed
    shown = "\n    ".join(printed)
    return f"`{command.text}` does not print what stands there, but:\n    {shown}", printed


def expression(lines):
    """Returns the regular expression of the output on a page."""
    lines = [line.rstrip() for line in lines]
    if not lines:
        return "\n"
    parts = ["(?:.*\n)*" if line == "…" else re.escape(line).replace("…", ".*") + "\n" for line in lines]
    return "".join(parts)


def compare_with_source(page, block):
    source = ROOT / block.value
    if not source.is_file():
        return [f"{page}:{block.first_line}: {block.value} is not there"]
    wanted, there = stripped(block.lines), stripped(source.read_text(encoding="utf-8").splitlines())
    if any(there[at : at + len(wanted)] == wanted for at in range(len(there))):
        return []
    return [f"{page}:{block.first_line}: these lines do not stand in {block.value}"]


def stripped(lines):
    return [line.strip() for line in lines]


def write_anew(page, anew):
    """Writes what was printed into the page, from its end so that numbers stay true."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for command, printed in reversed(anew):
        if any("…" in line for line in command.output):
            continue
        first = command.number - 1 + command.text.count("\n") + 1
        lines[first : first + len(command.output)] = printed
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def foreign(site):
    """Returns what the built pages would load from elsewhere."""
    problems = []
    for pattern, ending in ((LOADED, "*.html"), (LOADED_BY_STYLE, "*.css")):
        for path in site.rglob(ending):
            found = pattern.findall(path.read_text(encoding="utf-8", errors="replace"))
            problems += [f"{path.relative_to(site)}: the built page loads {address}" for address in found]
    return problems


def unproven():
    """Returns the models of recipes that no page proves and confirms."""
    pages = "\n".join(page.read_text(encoding="utf-8") for page in PAGES.rglob("*.md"))
    problems = []
    for model in sorted(RECIPES.glob("*.shelf")):
        for verb in ("check", "prove", "confirm"):
            if f"$ shelfmark design {verb} models/recipes/{model.name}" not in pages:
                problems.append(f"models/recipes/{model.name}: no page of the book runs `design {verb}` on it")
    return problems


if __name__ == "__main__":
    sys.exit(main())
