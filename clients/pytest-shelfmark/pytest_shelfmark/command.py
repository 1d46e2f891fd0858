"""Finds the command `shelfmark`: by argument, then SHELFMARK_BIN, then PATH.

It does not download one. A name that was given and leads nowhere is an error, never passed over.
"""

from __future__ import annotations

import os
import shutil
from typing import Optional

VARIABLE = "SHELFMARK_BIN"
HOW_TO_GET_IT = (
    "Build it in a checkout of Shelfmark with `cargo install --path crates/shelfmark-cli`, then name it in "
    f"{VARIABLE}, in the pytest setting `shelfmark_bin`, or put it on PATH."
)


class CommandMissing(RuntimeError):
    """Says that the command is not there, and what to do."""


def find(given: Optional[str] = None) -> str:
    """Returns the path of the command.

    Raises `CommandMissing` if none was found, or if the one that was named cannot be run.
    """
    for named, by in ((given, "the argument"), (os.environ.get(VARIABLE), VARIABLE)):
        if named:
            found = shutil.which(os.path.expanduser(named))
            if found is None:
                raise CommandMissing(f"{by} names {named!r}, which is no program that can be run. {HOW_TO_GET_IT}")
            return os.path.abspath(found)
    found = shutil.which("shelfmark")
    if found is None:
        raise CommandMissing(f"There is no command `shelfmark` on PATH. {HOW_TO_GET_IT}")
    return os.path.abspath(found)
