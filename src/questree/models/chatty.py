"""Answers put into the sentences of a model that likes to talk; which one is a keyed hash of what was asked."""

from questree.columns.hashing import seed_of

SENTENCES = {  # `{}` is the answer
    "yes": (
        "Yes.",
        "Yes, that is what I see here.",
        "Looking closely, the answer is yes.",
        "<think>I look at everything once more.</think>\n\n**Yes**",
        "**Answer:** Yes",
    ),
    "no": (
        "No.",
        "No, nothing of the kind is to be seen.",
        "Looking closely, the answer is no.",
        "<think>I look at everything once more.</think>\n\n**No**",
        "**Answer:** No",
    ),
    "": (
        "{}.",
        "The answer is {}.",
        "Looking closely, the answer is {}.",
        "<think>I look at everything once more.</think>\n\n**{}**",
        "**Answer:** {}",
        "<answer>{}</answer>",
    ),
}


def chatty(answer: str, asked: str) -> str:
    """The same for the same question."""
    several = SENTENCES.get(answer, SENTENCES[""])
    return several[int(seed_of(0, f"chatty {asked}")) % len(several)].format(answer)
