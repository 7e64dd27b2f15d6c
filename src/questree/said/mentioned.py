"""Answers named in a text: the one that is stated, not those denied, repeated from the question or weighed before."""

import re

from questree.said.lexicon import Lexicon, Mention, tokens
from questree.said.phrases import PHRASES, UNSURE, pattern
from questree.said.polarity import same_stem
from questree.said.question import TIMES, AskedQuestion, repeated

SENTENCES = re.compile(r"(?<=[.!?;])\s+|\n+|\.{2,}|…")
NOT = frozenset(PHRASES["denies"])
REACH = 6  # words after a denial that it may speak about
ENDS_DENIAL = frozenset(PHRASES["ends_denial"])
CONCLUSION = pattern("conclusion", r"(?:\b(?:{})\b|[:→]|->|=>)")
SUPPOSED = pattern("supposed", r"^\s*(?:{})\b")
VERDICT = re.compile(r"^\W*(.+?)\s*[:=-]+\s*(yes|no|true|false|✓|✗|✔|✘)\b", re.IGNORECASE)
PREPOSITIONS = frozenset(PHRASES["prepositions"])
BUT = re.compile(r"\b(?:but|however|still|though)\b,?", re.IGNORECASE)


TURN_OR_NO = pattern("turn", r"\b(?:{})\b|(?:,|\bbut) no,")
OPPOSITES = [tuple(pair.split()) for pair in PHRASES["opposites"]]
AT_LAST = pattern("at_last")
ALL_BUT = re.compile(r"\b(?:anything|everything|all) (?:but|except)\b", re.IGNORECASE)
NEITHER = re.compile(r"^\W*neither\b", re.IGNORECASE)
COPULA = re.compile(
    r"\b(?:thing|object|item|action|activity|one)\b[^.]*?\b(?:is|was|were)\b(?: called| to be)?", re.IGNORECASE
)
EXPLAINED = re.compile(
    r"(?:,\s*(?:which|where|with|who|even|so that)\b"
    r"|,?\s*\b(?:because|since|(?<!well )as(?! well)|although|though|while|whereas)\b).*$",
    re.IGNORECASE | re.DOTALL,
)
EITHER = re.compile(r"^\W*(?:the )?(?:both|either)\b", re.IGNORECASE)


def stated(text: str, asked: AskedQuestion, lexicon: Lexicon) -> tuple[str | None, str]:
    """The one answer a text states, or none and the reason: `both`, `none`."""
    if verdict := _verdict(text, lexicon):
        return verdict, ""
    if _opposite(text, asked):
        return None, "none"
    text = ALL_BUT.sub(" not ", text)
    turned = list(TURN_OR_NO.finditer(text))
    for part in ([text[turned[-1].end() :]] if turned else []) + [text]:
        answer, reason = _stated(part, asked, lexicon)
        if answer is not None:
            return answer, ""
    return None, reason


WEIGHED = re.compile(r"^\s*(?:between|of|out of|comparing)\s+[^,.]*,\s*", re.IGNORECASE)


def _stated(text: str, asked: AskedQuestion, lexicon: Lexicon) -> tuple[str | None, str]:
    if NEITHER.match(text):
        return None, "none"
    sentences = [made for each in SENTENCES.split(WEIGHED.sub("", text)) if (made := _sure(each)).strip()]
    told = [each for each in sentences if not each.rstrip().endswith("?") and not SUPPOSED.match(each)] or sentences
    per_sentence = [_asserted(each, asked, lexicon) for each in told]
    if not _answers(per_sentence):
        told, per_sentence = sentences, [_asserted(each, asked, lexicon) for each in sentences]
    found = _answers(per_sentence)
    if asked.options and not found:
        return (None, "both") if EITHER.match(text) else _distinctive(text, asked)
    if len(found) < 2:
        return (found.pop(), "") if found else (None, "none")
    if all(
        len(own) == 1 and own[0].end - own[0].start == len(tokens(each))
        for each, own in zip(told, per_sentence, strict=True)
    ):
        return None, "both"  # a list
    for sentence in reversed(told):
        parts = (COPULA if COPULA.search(sentence) else CONCLUSION).split(sentence)
        if len(parts) > 1 and len(last := _answers([_asserted(parts[-1], asked, lexicon)])) == 1:
            return last.pop(), ""
    main = [_asserted(EXPLAINED.sub("", each), asked, lexicon) for each in told]
    if len(only := _answers(main)) == 1:
        return only.pop(), ""
    if leading := _leads(told[0], per_sentence[0], lexicon):
        return leading, ""
    if not asked.options:
        fresh = found - {mention.answer for mention in lexicon.mentions(list(asked.words))}
        if len(fresh) == 1:
            return fresh.pop(), ""
        if len(object := _objects(told, per_sentence, fresh or found, asked)) == 1:
            return object.pop(), ""
    first = _answers(per_sentence[:1])
    return (first.pop(), "") if len(first) == 1 else (None, "both")


def _opposite(text: str, asked: AskedQuestion) -> bool:
    """ "It took less time", where was asked what took more: which of the two is meant is left to others."""
    said, wanted = set(tokens(AT_LAST.sub("last", text))), set(asked.words)
    return any(
        other in said - wanted and one in wanted - said for pair in OPPOSITES for one, other in (pair, pair[::-1])
    )


def _distinctive(text: str, asked: AskedQuestion) -> tuple[str | None, str]:
    """ "The bag" of "holding a bag or holding a blanket": words that only one option has."""
    said, own = set(tokens(text)), [set(tokens(option)) for option in asked.options]
    shared = set.intersection(*own)
    meant = [option for option, words in zip(asked.options, own, strict=True) if (words - shared) & said]
    denied = any(word in NOT for word in said)
    return (meant[0], "") if len(meant) == 1 and not denied else (None, "both" if len(meant) > 1 else "none")


def _answers(per_sentence: list[list[Mention]]) -> set[str]:
    return {mention.answer for each in per_sentence for mention in each}


def _sure(sentence: str) -> str:
    """Without what it says it does not know: "I don't know which, but the paper"."""
    if not UNSURE.search(sentence):
        return sentence
    parts = BUT.split(sentence, maxsplit=1)
    return parts[1] if len(parts) > 1 else "" if re.search(r"\b(?:if|whether|which|or)\b", sentence, re.I) else sentence


def _asserted(sentence: str, asked: AskedQuestion, lexicon: Lexicon) -> list[Mention]:
    """Answers a sentence names and does not deny; of options those it does not merely repeat from the question."""
    words, starts = tokens(sentence), {0}
    for piece in sentence.split(","):  # a denial does not reach over a comma
        starts.add(max(starts) + len(tokens(piece)))
    named = [mention for mention in lexicon.mentions(words) if not _denied(words, mention.start, starts)]
    if asked.options and len({mention.answer for mention in named}) > 1:
        return [mention for mention in named if not repeated(mention, words, asked)] or named
    return named


def _denied(words: list[str], start: int, starts: set[int]) -> bool:
    """Does a denial reach this place?"""
    if start in starts:
        return False
    for back in range(start - 1, max(start - REACH, 0) - 1, -1):
        if words[back] in NOT:
            return True
        if words[back] in ENDS_DENIAL or back in starts:
            return False
    return False


def _objects(sentences: list[str], mentions: list[list[Mention]], among: set[str], asked: AskedQuestion) -> set[str]:
    """What a sentence speaks about, not where: "They put the bag down on the table"."""
    wanted = asked.words[-1] if asked.words and asked.words[-1] in PREPOSITIONS else None
    found = set()
    for sentence, own in zip(sentences, mentions, strict=True):
        words = tokens(sentence)
        for mention in own:
            before = words[mention.start - 1] if mention.start else ""
            if mention.answer in among and (before == wanted if wanted else before not in PREPOSITIONS):
                found.add(mention.answer)
    return found


def _leads(sentence: str, mentions: list[Mention], lexicon: Lexicon) -> str:
    """ "Before, not after": the answer a text begins with, set off by a comma, a bracket or a dash."""
    if all(
        len(own := lexicon.mentions(tokens(piece))) == 1 and own[0].end == len(tokens(piece))
        for piece in sentence.split(",")
    ):
        return ""  # a list
    head = re.split(r"[,(:.]|\s-\s|\b(?:because|since|as)\b", sentence, maxsplit=1)[0]
    return mentions[0].answer if mentions and mentions[0].start == 0 and mentions[0].end == len(tokens(head)) else ""


def _verdict(text: str, lexicon: Lexicon) -> str:
    """ "Doorway: no / Table: yes": the one with a yes."""
    rows = [(found[1], found[2].lower()) for line in text.split("\n") if (found := VERDICT.match(line))]
    kept = [lexicon.mentions(tokens(name)) for name, said in rows if said in ("yes", "true", "✓", "✔")]
    return kept[0][0].answer if len(rows) > 1 and len(kept) == 1 and len(kept[0]) == 1 else ""


TIME_WORD = re.compile(r"\b(before|after|prior to|following|earlier than|later than)\b", re.IGNORECASE)


def ordered(text: str, asked: AskedQuestion) -> str:
    """before or after, from a sentence that orders the two events: "After sitting down, they held the phone"."""
    if not asked.event or not asked.reference or not set(TIMES) <= set(asked.options):
        return ""
    if BOTH_TIMES.search(text):
        return ""
    for found in TIME_WORD.finditer(text):
        word = "before" if found[1].lower() in ("before", "prior to", "earlier than") else "after"
        after = SUBJECT.sub("", text[found.end() :])
        near = set(tokens(STOPS.split(after, maxsplit=1)[0])[:8])
        event, reference = _overlap(near, asked.event), _overlap(near, asked.reference)
        if event == reference or {*tokens(text[: found.start()])[-1:]} & NOT:
            continue
        return word if reference > event else TIMES[1 - TIMES.index(word)]
    parts = [set(tokens(part)) for part in THEN.split(text)]
    if len(parts) == 2:
        first, second = (_overlap(part, asked.event) - _overlap(part, asked.reference) for part in parts)
        return "before" if first > 0 > second else "after" if first < 0 < second else ""
    return ""


THEN = re.compile(r"\b(?:and )?(?:then|afterwards?|later|subsequently)\b", re.IGNORECASE)


def _overlap(words: set[str], others: frozenset[str]) -> int:
    return sum(any(same_stem(word, other) for other in others) for word in words)


BOTH_TIMES = re.compile(r"\bboth before\b|\bbefore and after\b|\bbefore as well as after\b", re.IGNORECASE)
SUBJECT = pattern("subject", r"^\s*(?:{})\b")
STOPS = re.compile(r"[,.;]|\b(?:they|he|she|the person|because)\b")
