"""The blocks of a page: what stands between fences, and what the page says is done with each.

A block of the language `console` is run. Every other block has an HTML comment above it:

    <!-- file: NAME -->     it is written to NAME before the commands that follow
    <!-- from: PATH -->     it stands, line by line, in PATH of the repository
    <!-- shown: WHY -->     it is only shown, and WHY says what hinders

`<!-- exits: N -->` above a console block says that its last command ends with N. A block of the language
`text` is a drawing and needs nothing.
"""

import dataclasses
import pathlib
import re

DIRECTIVE = re.compile(r"<!-- (file|from|shown|exits): (.+) -->")
FENCE = re.compile(r"^( *)(```+)([\w+-]*)\s*$")


@dataclasses.dataclass
class Block:
    """One block with the number of its first line in the page."""

    language: str
    lines: list
    first_line: int
    directive: str
    value: str

    def commands(self):
        """Returns each command with the lines that it prints and the number of its line."""
        commands = []
        for number, line in enumerate(self.lines, self.first_line):
            if line.startswith("$ "):
                commands.append(Command(line[2:], [], number))
            elif not commands:
                raise ValueError(f"line {number}: a console block begins with `$ `")
            elif line.startswith("> ") and not commands[-1].output and commands[-1].goes_on():
                commands[-1].text += "\n" + line[2:]
            else:
                commands[-1].output.append(line)
        return commands


@dataclasses.dataclass
class Command:
    text: str
    output: list
    number: int

    def goes_on(self):
        """Returns true if the next line belongs to the command: it ends in a backslash or feeds a text."""
        here = re.search(r"<<-?'?(\w+)'?", self.text)
        return self.text.endswith("\\") or (here is not None and not self.text.endswith("\n" + here[1]))


def blocks(page: pathlib.Path):
    """Returns the blocks of a page. Raises ValueError, with the line, where a block says nothing of itself."""
    found, opened, directive = [], None, (0, "", "")
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if opened is not None:
            if line.strip() == opened[0]:
                found.append(opened[1])
                opened = None
            else:
                opened[1].lines.append(line)
        elif fence is not None:
            said = directive[1:] if directive[0] == number - 1 else ("", "")
            opened = (fence[2], Block(fence[3], [], number + 1, *said))
        elif DIRECTIVE.fullmatch(line):
            directive = (number, *DIRECTIVE.fullmatch(line).groups())
        elif line.lstrip().startswith(("```", "~~~")):
            raise ValueError(f"line {number}: a fence has a language and nothing else behind it")
    if opened is not None:
        raise ValueError(f"line {opened[1].first_line - 1}: the block does not end")
    for block in found:
        judge(block)
    return found


def judge(block):
    allowed = ("", "exits") if block.language == "console" else ("file", "from", "shown")
    if block.directive not in allowed and block.language != "text":
        raise ValueError(f"line {block.first_line - 1}: say above the block what is done with it (clients/book)")
