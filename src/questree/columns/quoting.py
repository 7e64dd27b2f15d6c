"""Words in programs written as text: as they are, or in quotes where their characters would mean something."""

SPECIAL = "(),[]"  # what a program is made of
QUOTE, ESCAPE = '"', "\\"
QUOTED = r'"(?:[^"\\]|\\.)*"'


def quoted(word: str) -> str:
    """`cup`, but `"cup (red)"`, `"5\\" pipe"`."""
    plain = word and word == word.strip() and word[0] != "$" and not set(word) & {*SPECIAL, QUOTE, ESCAPE}
    if plain:
        return word
    return QUOTE + word.replace(ESCAPE, ESCAPE * 2).replace(QUOTE, ESCAPE + QUOTE) + QUOTE


def unquoted(text: str) -> str:
    """The word that a text writes."""
    if not text.startswith(QUOTE):
        return text
    word, escaped = "", False
    for each in text[1:-1]:
        escaped = each == ESCAPE and not escaped
        word += "" if escaped else each
    return word
