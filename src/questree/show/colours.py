"""The colours of pictures: kinds of words, right and wrong, an error's path, a model's contradictions."""

WORDS = {"object": "#1b7837", "relation": "#a04d04", "action": "#762a83", "time": "#2166ac", "": "#222222"}
WORDS["attribute"] = WORDS["action"]  # no medium has both
LINES = "#6f6f6f"
ERROR = "#bf2a77"  # pink: a wrong answer, and the way of wrong answers through a DAG
CONTRADICTION = "#2b6cdb"  # blue: answers of one model that contradict each other
RIGHT = "#1f7346"
MODELS = ("#4269d0", "#e0a100", "#ff725c", "#3ca98f", "#a463f2", "#7d8794")  # one after the other
ON_LIGHT = {**WORDS, "lines": LINES, "error": ERROR, "contradiction": CONTRADICTION, "right": RIGHT}
ON_DARK = {  # the same, lighter
    "object": "#7bcb93",
    "relation": "#f0a35e",
    "action": "#d29be0",
    "time": "#7fb8ee",
    "attribute": "#d29be0",
    "": "#e6e8ec",
    "lines": "#8d939c",
    "error": "#ff79b8",
    "contradiction": "#78a9ff",
    "right": "#66cf98",
}

SURFACES = {  # what words stand on; every word has a contrast of 4.5 to each of them
    "ground": "#f6f7f9",
    "paper": "#ffffff",
    "ink": "#1d2229",
    "soft": "#5d6670",
    "faint": "#646d77",
    "line": "#dfe3e8",
    "accent": "#2457b8",
    "wash": "#eef3fc",
    "error-wash": "#fdeef5",
    "right-wash": "#e9f6ef",
    "edge": "#bcc4ce",
    "shade": "0 1px 2px rgb(20 30 50 / 6%)",
}
DARK_SURFACES = {
    "ground": "#14171c",
    "paper": "#1c2027",
    "ink": "#e6e8ec",
    "soft": "#a5adb8",
    "faint": "#939ca8",
    "line": "#313843",
    "accent": "#8db4ff",
    "wash": "#232c3d",
    "error-wash": "#3b2130",
    "right-wash": "#1b3327",
    "edge": "#4a535f",
    "shade": "none",
}


def sheet(of: str = ":root") -> str:
    """Variables of CSS (--object, --error, ...) of what a selector finds, and its kinds of words; light on paper."""

    def block(colours: dict[str, str]) -> str:
        return f"{of} {{" + " ".join(f"--{name}: {value};" for name, value in colours.items() if name) + "}"

    models = {f"model-{at}": value for at, value in enumerate(MODELS)}
    light, dark = ON_LIGHT | models | SURFACES, ON_DARK | DARK_SURFACES
    words = " ".join(f"{of} .{kind} {{ color: var(--{kind}); }}" for kind in WORDS if kind)
    return f"{block(light)}\n@media screen and (prefers-color-scheme: dark) {{ {block(dark)} }}\n{words}\n"
