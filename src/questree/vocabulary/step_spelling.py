"""Names of steps and actions as corpora spell them, as words: groups, brackets, slashes, amounts and doubled verbs."""

import re
from collections.abc import Iterator

from questree.vocabulary.check import UNSPELLABLE
from questree.vocabulary.class_names import BEFORE_NOUN, BRACKETS, NO_THING, PROPER, SHORTHAND, told_apart
from questree.vocabulary.inflection import BARE, ENGLISH, PAST, PREPOSITIONS, PROGRESSIVE, verb_forms

NOT_SAID, PLACING, THINGS = (set(ENGLISH[name].split()) for name in ("not_said", "placing", "things_too"))
ADVERBS = {*ENGLISH["adverbs"].split()} - {*ENGLISH["telling"].split()}
INTO_WITH = {"into", "onto", "to", "with"}
PEOPLE, MACHINES = (set(ENGLISH[name].replace("_", " ").split()) for name in ("people", "machines"))
VERB_KEY = re.compile(r"\W*([A-Za-z]+)\s*-\s*(\S.*)", re.DOTALL)  # Pour-Pour
TAG = re.compile(r"^#\w+\s+(?=[A-Z]\b)")  # #C C opens a door
GROUP = re.compile(r"^([^:]*):\s+(?=\S)")  # Make omelet: Crack eggs
LOUD_GROUP = re.compile(r"^[A-Z_ ]{3,}:(?=\S)")  # COOKING:MAKE_BREAD
HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])")
EXAMPLES = re.compile(r"\(\s*e\.?g\b[^)]*\)?", re.IGNORECASE)
KEY = re.compile(r"[a-z-]+(?::[a-z-]+)+")  # tap:water
CODE = re.compile(r"[a-z]\d|^\d+[a-z]+$", re.IGNORECASE)
MODEL = re.compile(r"[A-Z]{1,3}\d+(x\d+)?|\d+(s|g|kg|ml|cm|mm|h|th|nd|rd|st)")  # M6x40, 60s
OURS = {"his": "their", "my": "their", "your": "their", "himself": "themselves", "herself": "themselves"}
MANY, SIGNS, BROUGHT, RUN_ON = "several clauses", "signs in it", "words in brackets", "words run together"


def spelled_out(name: str) -> tuple[list[str], list[str]]:
    """The words of a step's name, in small letters but for what is always written large, and what is odd about it."""
    odd = list[str]()
    text = _without_group(_without_key(TAG.sub("", name.strip()), odd), odd)
    text = re.sub(r"(\d)\s?[\"″”]", r"\1-inch", text)
    if not re.search(r"[\s_-]", text) and HUMPS.search(text):
        text = HUMPS.sub(" ", text)
        odd.append(RUN_ON)
    text = _without_brackets(text.replace("_", " "), odd)
    for short, long in SHORTHAND.items():
        text = re.sub(short, long, text, flags=re.IGNORECASE)
    text = re.sub(r"^\W*\d+[.)]\s+(?=\D)|^step\s*\d+\s*[-–.)]\s+|/e?s\b", "", text, flags=re.IGNORECASE)
    text = re.sub(r"(?<=[^\W\d])\s*/\s*(?=[^\W\d])", " or ", text)
    text = re.sub(r"\s\+\s", " and ", text)
    text, *more = re.split(r"\s+[-–]\s+|;|\.\s+(?=[A-Z])", text.strip())
    odd += [MANY] * any(more)
    text = _without_commas(re.sub(r",?\s*\betc\b\.?", "", text), odd)
    plain = "".join(" " if sign in UNSPELLABLE + '!?"\\' else sign for sign in text)
    if re.search(r"[^\w\s'’/%°.:-]|\s-\S|->|[a-z]\.[a-z]", plain):
        odd.append(SIGNS)
    plain = re.sub(r"[^\w\s'’/%°.:-]|\.(?!\d)", " ", plain)
    words = [*_lower([word.strip("-.:") for word in plain.split() if word.strip("-.:")], name)]
    odd += [SIGNS] * any(CODE.search(word) and not MODEL.fullmatch(word) for word in words)
    odd += [RUN_ON] * any(re.search(r"-(to|from|into|with)-", word) for word in words)
    return [OURS.get(word, word) for word in _once(_keys_turned(words))], odd


def _without_key(text: str, odd: list[str]) -> str:
    """Pour-Pour oil, whisk-quickly whisk it, add-Sprinkle salt: a sentence after its verb."""
    if not (found := VERB_KEY.fullmatch(text)):
        return text
    key, words = found[1].lower(), re.findall(r"[\w'’/-]+", found[2])
    small = [word.lower() for word in words]
    dropped = small[:1] == [key] or (key in small[1:2] and small[0] not in BEFORE_NOUN)
    if words[1:] and words[0].istitle() and not words[1].istitle() and not verb_forms(f"{key}-{small[0]}"):
        dropped |= bool(verb_forms(key)) and BARE in verb_forms(small[0])  # not Stir-Fry the noodles
    odd += [MANY] * (key in small[2:] and not dropped)  # whisk-with a fork, whisk it
    return found[2] if dropped else text


def _without_group(text: str, odd: list[str]) -> str:
    """Make omelet: Crack eggs -> Crack eggs; COOKING:MAKE_BREAD -> MAKE_BREAD, if it begins with a verb."""
    text = GROUP.sub("", text)
    head, _, deed = text.lower().partition(":")
    begin, known = re.split(r"[_-]", deed)[0], verb_forms(head.split("-")[0])
    if KEY.fullmatch(text.replace("_", "-")) and ":" not in deed:
        again = begin in ("not", "no") or not {*verb_forms(begin).values()}.isdisjoint(known.values())
        if again if known else verb_forms(begin):  # action:standing, cross:not-crossing
            odd += [RUN_ON] * (begin in THINGS)
            return text[len(head) + 1 :]
    rest = LOUD_GROUP.sub("", text)
    if rest != text and not verb_forms(re.split(r"[\s_]", rest.lower())[0]):
        odd.append("a group, no step")
        return text.replace(":", " ")
    return rest


def _without_brackets(text: str, odd: list[str]) -> str:
    """What is in brackets tells a thing apart, or goes on (carry (an object)), or is left out."""
    if EXAMPLES.search(text):
        text = EXAMPLES.sub("", text).strip()
        odd.append("examples in brackets")
        words = text.lower().split() or [""]
        text += " something" * ((len(words) == 1 or words[-1] in PREPOSITIONS) and bool(verb_forms(words[0])))

    def said(found: re.Match[str]) -> str:
        inside = found[2].lower().split()
        stays = not inside or inside[0] in BEFORE_NOUN | NO_THING
        if len(inside) == 1 and inside[0] in ADVERBS:
            return f"{found[1]} {inside[0]}"  # measure the plank (twice)
        if stays or (len(inside) < 3 and re.fullmatch(r"[a-z '-]+", found[2].lower()) and not inside[0].endswith("ly")):
            return told_apart(found, 1)
        odd.append(BROUGHT)
        return found[1]

    text = BRACKETS.sub(said, text)
    rest = re.sub(r"\[[^\]]*\]|^\([^)]*\)|\{[^}]*\}", " ", text).strip()
    odd += [BROUGHT] * (rest != text.strip() and bool(rest))
    return rest or text


def _without_commas(text: str, odd: list[str]) -> str:
    """a, b and c -> a and b and c; other commas begin another clause."""
    text = re.sub(r",\s*(?=(and|or|then)\b)", " ", text)
    first, *more = (part.strip() for part in text.split(","))
    for at, part in enumerate(more):
        verb = verb_forms(begins[0] if (begins := part.lower().split()[:1]) else "")
        short = len(re.split(r"\b(?:and|or)\b", part)[0].split()) < 4
        forms = verb_forms((first.lower().split() or [""])[0])
        while_so = PROGRESSIVE in verb and PROGRESSIVE not in forms  # leaving a margin
        aside = {*verb} == {PAST} and PAST not in forms and " " not in part  # the plate, covered, on high
        things = (not (while_so or aside) and bool(verb)) or (
            (short and not aside) and (at < len(more) - 1 or re.search(r"\b(and|or)\b", text) or len(more) == 1)
        )
        odd += [MANY] * (not things or bool({*begins} & (PREPOSITIONS | {"about"})))
        first += (" and " if things and not {*begins} & BEFORE_NOUN else " ") + part
    return first


def _lower(words: list[str], name: str) -> Iterator[str]:
    """Capitals stay where a name has them in the middle: RAM, M6x40, panel A."""
    loud = not re.search("[a-z]", name)
    for at, word in enumerate(words):
        large = re.fullmatch(r"[A-Z]{2,5}s?|(?!I\b)[A-Z]|[A-Z]{1,3}\d+(x\d+)?", word)
        stays = (
            at
            and large
            and not loud
            and word.lower() not in {"or", "and", "not"} | PREPOSITIONS
            and (word != "A" or not words[at + 1 :] or words[at + 1].lower() in PREPOSITIONS | {"and", "or"})
        )
        small = re.sub(r"(?<=[^aeiou\W])ys$", "ies", word.lower())
        yield word if stays else PROPER.get(small, small)


def _keys_turned(words: list[str]) -> list[str]:
    """wash cup with tap:water -> wash cup with water tap: things are keyed by their noun, steps by the verb."""
    done = list[str]()
    for word in words:
        head, *more = word.split(":") if KEY.fullmatch(word) else (word.replace(":", " "),)
        begin = len(done)
        if more and not done and verb_forms(head.split("-")[0]):  # put-down:board:chopping
            done, more, head = [head], more[1:], more[0]
            verb, _, link = done[0].rpartition("-")
            if verb in PLACING and link in INTO_WITH:  # pour-into:oil: oil into something
                done, head = [verb], f"{head} {link} something"
            begin = 1
        while more and begin > 1 and done[begin - 1] not in BEFORE_NOUN | {"and", "or"}:
            begin -= 1
        done[begin:] = [*more, *done[begin:], *head.split()]
    return done


def _once(words: list[str]) -> list[str]:
    return [word for at, word in enumerate(words) if at == 0 or word != words[at - 1]]


def without_subject(words: list[str], odd: list[str], people: tuple[str, ...]) -> list[str]:
    """person opens door -> opens door; the car turns left -> turns left, which nobody's car does."""
    begin = int(words[0] in ("a", "an", "the", "ego") and len(words) > 1)
    while words[begin : begin + 1] and words[begin] in {*people, *PEOPLE, *MACHINES}:
        begin += 1
    who, rest = words[:begin], words[begin:]
    passive = rest[1:] and rest[0] in ("is", "are", "was", "were")
    rest = rest[1:] if passive else rest  # the car is stopped
    doing = rest and begin and {"third", "progressive", *["past"] * bool(passive)} & verb_forms(rest[0]).keys()
    if not rest or not begin or not (doing or who[0] in people):
        return words
    odd += ["done by a machine"] * bool({*who} & MACHINES)
    return rest
