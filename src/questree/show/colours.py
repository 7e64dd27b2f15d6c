"""The colours of pictures: kinds of words, right and wrong, an error's path, a model's contradictions."""

WORDS = {"object": "#1b7837", "relation": "#b35806", "action": "#762a83", "time": "#2166ac", "": "#222222"}
WORDS["attribute"] = WORDS["action"]  # no medium has both
LINES = "#8a8a8a"
ERROR = "#d6428c"  # pink: a wrong answer, and the way of wrong answers through a DAG
CONTRADICTION = "#2b6cdb"  # blue: answers of one model that contradict each other
RIGHT = "#2e8b57"
MODELS = ("#4269d0", "#e0a100", "#ff725c", "#3ca98f", "#a463f2", "#7d8794")  # one after the other
ON_LIGHT = {**WORDS, "lines": LINES, "error": ERROR, "contradiction": CONTRADICTION, "right": RIGHT}
ON_DARK = {  # the same, lighter
    "object": "#7bcb93",
    "relation": "#f0a35e",
    "action": "#d29be0",
    "time": "#7fb8ee",
    "attribute": "#d29be0",
    "": "#e6e8ec",
    "lines": "#7d838c",
    "error": "#ff79b8",
    "contradiction": "#78a9ff",
    "right": "#66cf98",
}


def sheet() -> str:
    """As variables of CSS: --object, --error, ..."""

    def block(colours: dict[str, str]) -> str:
        return ":root {" + " ".join(f"--{name}: {value};" for name, value in colours.items() if name) + "}"

    models = {f"model-{at}": value for at, value in enumerate(MODELS)}
    return f"{block(ON_LIGHT | models)}\n@media (prefers-color-scheme: dark) {{ {block(ON_DARK)} }}\n"
