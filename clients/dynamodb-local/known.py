"""Differences that somebody has looked at, each with the decision and its source."""


def decision(found):
    """Returns why a difference is none that has to be looked at, or None."""
    return None
