"""A model in Python, for `questree ask --python worlds.talker:yes`."""


def yes(question: object) -> str:
    return "yes"
