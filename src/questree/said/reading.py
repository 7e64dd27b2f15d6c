"""Free text -> an answer of the benchmark, or none and why: `refused`, `unsure`, `both`, `none`, `foreign`."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

from questree.said.cleaned import marked, plain
from questree.said.lexicon import (
    Lexicon,
    SynonymsFile,
    lexicon,
    normal,
    possible_answers,
    shipped,
    tokens,
    vocabulary_ways,
)
from questree.said.mentioned import ordered, stated
from questree.said.numbers import how_many
from questree.said.phrases import PHRASES, TURN, doubt
from questree.said.polarity import begins, yes_or_no
from questree.said.question import (
    ACTION,
    CHOICE,
    COUNT,
    OBJECT,
    OPEN,
    RELATION,
    TIME,
    TIMES,
    YES_NO,
    AskedQuestion,
    understood,
)
from questree.vocabulary.words import Vocabulary

REASONS = ("refused", "unsure", "both", "none", "foreign")
LETTER = re.compile(
    r"^\W*(?:(?:option|choice|answer)\s*)?[\[(]?\s*([a-h])\s*(?:[\])]|[.:,]|\s-|$)\s*(.*)$", re.IGNORECASE | re.DOTALL
)
CHOSEN = re.compile(r"\b(?:option|choice|letter)\s*(?:is\s*:?\s*(?=[\[(]))?[\[(\"']?([A-H])\b", re.IGNORECASE)
ORDINAL = re.compile(
    r"^\W*(?:the |it'?s the |option |choice |number )*(former|latter|(?:first|second)(?: one| option)?|[12])\W*$",
    re.IGNORECASE,
)
ENGLISH = frozenset(PHRASES["english"])
PLACE = {"former": 0, "latter": 1, "first": 0, "second": 1, "1": 0, "2": 1}
LETTERS = re.compile(r"^\W*\(?([A-H])\)?\s*(?:and|or|&|,|/)\s*\(?([A-H])\)?\W*$", re.IGNORECASE)


class ReadAnswer(NamedTuple):
    """What a text means."""

    answer: str | None
    reason: str  # one of REASONS where there is no answer
    rule: str  # that read it


class Reader:
    """Reads texts as answers of one benchmark."""

    def __init__(
        self, answers: Iterable[str], vocabulary: Vocabulary | None, synonyms: SynonymsFile | None = None
    ) -> None:
        self.answers = list(dict.fromkeys(answers))
        self.vocabulary = vocabulary
        self.synonyms = synonyms or shipped()

    @cached_property
    def words(self) -> list[str]:
        """Answers to other questions of the vocabulary: perhaps wrong, but said as they should be."""
        return possible_answers(self.vocabulary) if self.vocabulary else []

    @cached_property
    def ways(self) -> Mapping[str, Iterable[str]]:
        own = vocabulary_ways(self.vocabulary) if self.vocabulary else {}
        more = self.synonyms.words
        return {answer: [*own.get(answer, ()), *more.get(answer, ())] for answer in {**own, **more}}

    @cached_property
    def all(self) -> Lexicon:
        return self.among(tuple(self.answers))

    def among(self, answers: tuple[str, ...]) -> Lexicon:
        return self._lexicons(answers)

    @cached_property
    def _lexicons(self) -> Callable[[tuple[str, ...]], Lexicon]:
        """Kept by the reader, not by its class, which would keep every reader there ever was."""
        return lru_cache(maxsize=4096)(partial(lexicon, other_ways=self.ways))

    @cached_property
    def by_kind(self) -> dict[str, Lexicon]:
        """The answers a kind of question can have: the vocabulary's of that kind, and those it does not know."""
        if self.vocabulary is None:
            return {}
        named = {
            OBJECT: {word.name for word in self.vocabulary.objects if word.id != self.vocabulary.person},
            RELATION: {word.name for word in self.vocabulary.relations},
            ACTION: {word.phrase for word in self.vocabulary.actions},
        }
        things = (word.name for word in self.vocabulary.objects)
        strange = {*self.answers}.difference(("yes", "no", *TIMES), things, *named.values())
        kept = {kind: tuple(a for a in self.answers if a in names or a in strange) for kind, names in named.items()}
        return {kind: self.among(own) for kind, own in kept.items() if own}

    def question(self, text: str, answer_type: str, options: tuple[str, ...]) -> AskedQuestion:
        return self._questions(text, answer_type, options)

    @cached_property
    def asked_once(self) -> partial[AskedQuestion]:
        """`question` for texts that do not come again."""
        lexicons = [self.by_kind[kind] for kind in (ACTION, OBJECT, RELATION) if kind in self.by_kind]
        return partial(understood, lexicons=[*lexicons, self.all], known=frozenset(self.answers))

    @cached_property
    def _questions(self) -> Callable[[str, str, tuple[str, ...]], AskedQuestion]:
        return lru_cache(maxsize=65536)(self.asked_once)

    @cached_property
    def wider(self) -> "Reader | None":
        """One who also knows the words of the vocabulary that are no answer of the data."""
        more = {*self.words}.difference(self.answers)
        return Reader([*self.answers, *self.words], self.vocabulary, self.synonyms) if more else None

    def read(self, raw: str, question: str = "", answer_type: str = "", options: Iterable[str] = ()) -> ReadAnswer:
        """An answer of the data, or a word of the vocabulary that is none of them (wrong, but said)."""
        found = self._read(raw, question, answer_type, options)
        if found.reason != "none" or self.wider is None:
            return found
        return self.wider._read(raw, question, answer_type, options)

    def _read(self, raw: str, question: str, answer_type: str, options: Iterable[str]) -> ReadAnswer:
        asked = self.question(question, answer_type, tuple(options))
        text = _without_question(plain(raw), question)
        if not text.strip(" .!?\"'"):
            return ReadAnswer(None, "none", "")
        seen: ReadAnswer | None = None
        for rule, part in marked(text):
            seen = self._read_part(part, asked)
            if seen.answer is not None:
                return seen._replace(rule=rule)
            if seen.reason != "none":
                return seen
        whole = self._read_part(text, asked)
        return seen if seen is not None and whole.answer is None else whole

    def _read_part(self, text: str, asked: AskedQuestion) -> ReadAnswer:
        known = self._lexicon(asked)
        if asked.kind not in (YES_NO, COUNT) and (answer := known.exact.get(normal(text))) is not None:
            return ReadAnswer(answer, "", "as it stands")
        if asked.options and LETTERS.match(text):
            return ReadAnswer(None, "both", "")
        if asked.options and (answer := self._letter(text, asked)) is not None:
            return ReadAnswer(answer, "", "letter")
        if asked.kind == YES_NO:
            found = yes_or_no(text, asked, self.synonyms)
        elif asked.kind == COUNT:
            found = how_many(text, asked.text)
        elif asked.kind == OPEN and {"yes", "no"} <= {*self.answers} and (said := begins(text, self.synonyms)):
            found = said, "", "yes or no"
        else:
            found = self._named(text, asked, known)
        if found[1] == "none" and self._is_foreign(text):
            return ReadAnswer(None, "foreign", "")
        return ReadAnswer(*found)

    def _lexicon(self, asked: AskedQuestion) -> Lexicon:
        if asked.kind == YES_NO:
            return self.among(("yes", "no"))
        if asked.kind in (CHOICE, TIME):
            return self.among(asked.options)
        return self.by_kind.get(asked.kind, self.all)

    def _named(self, text: str, asked: AskedQuestion, known: Lexicon) -> tuple[str | None, str, str]:
        if asked.kind == TIME:
            if not TURN.search(text) and (answer := known.exact.get(normal(re.split(r"[.,!\n]", text, maxsplit=1)[0]))):
                return answer, "", "sentence"
            if answer := ordered(text, asked):
                return answer, "", "order"
        answer, reason = stated(text, asked, known)
        if answer is not None:
            return (answer, "", "sentence")
        return None, doubt(text) or reason, ""

    @cached_property
    def claims(self) -> dict[str, int]:
        """Normal form of a way to say an answer -> how many answers are said so."""
        return dict(Counter(way for answer in self.answers for way in self.among((answer,)).exact))

    def points(self, text: str) -> bool:
        """Is it a letter or a number of an option?"""
        return bool(LETTERS.match(text) or ORDINAL.match(text) or LETTER.match(text) or CHOSEN.search(text))

    def _letter(self, text: str, asked: AskedQuestion) -> str | None:
        """ "B", "(B) cup", "Option B" -> the second option."""
        if ordinal := ORDINAL.match(text):
            place = PLACE[ordinal[1].lower().split()[0]]
            return asked.options[place] if place < len(asked.options) else None
        found = LETTER.match(text)
        rest = found[2].strip(" .!*)]\"'") if found else ""
        if found and (not rest or self.among(asked.options).mentions(tokens(rest)) or len(rest.split()) > 2):
            if rest and (answer := self.among(asked.options).exact.get(normal(rest))):
                return answer
            if found[1].isupper() or not rest or re.match(r"^\W*[\[(]?[a-h][\])]", text):
                return _at(found[1], asked)
        chosen = CHOSEN.findall(text)
        return _at(chosen[-1], asked) if chosen else None

    def _is_foreign(self, text: str) -> bool:
        letters = [char for char in text if char.isalpha()]
        if sum(char.isascii() or "À" <= char <= "ɏ" for char in letters) < len(letters) / 2:
            return True
        words = re.findall(r"[^\W\d_]+", text.lower())
        strange = {*self.synonyms.foreign.get("words", ())}
        odd = sum(word in strange or not word.isascii() for word in words)
        return odd > sum(word in ENGLISH for word in words) and odd >= len(words) / 6


def _at(letter: str, asked: AskedQuestion) -> str | None:
    place = ord(letter.lower()) - ord("a")
    return asked.options[place] if place < len(asked.options) else None


def _without_question(text: str, question: str) -> str:
    """The text without the question it repeats."""
    if question and question.strip().lower() in text.lower():
        at = text.lower().index(question.strip().lower())
        rest = text[:at] + " " + text[at + len(question.strip()) :]
        return re.sub(r"^\s*(?:question|q)\s*:\s*", "", rest, flags=re.IGNORECASE).strip()
    return text
