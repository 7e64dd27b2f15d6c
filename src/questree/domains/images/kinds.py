"""The kinds of the image language, the language itself, and the reasons why a row has no answer."""

from typing import Annotated

from questree.program import UNKNOWN, Array, Kind, Language, kind

IMAGES = Language("images")

Things = Annotated[Array, Kind("things")]  # [row, page] sets of things as bits
Thing = Annotated[Array, Kind("thing")]  # [row] row in the corpus
Links = Annotated[Array, Kind("links")]  # [row, place] edges of the corpus, PADDING
Link = Annotated[Array, Kind("link")]  # [row] edge of the corpus
Groups = Annotated[Array, Kind("groups")]  # [row, page] things as bits, to be read image by image
Scenes = Annotated[Array, Kind("scenes")]  # [row, page] which images: true on the first page of each
Count = Annotated[Array, Kind("count", "number", askable=True)]  # [row]
Noun = Annotated[Array, Kind("noun", "text", askable=True)]  # [row] word
Attribute = Annotated[Array, Kind("attribute", "text", askable=True)]  # [row] word, ABSENT if there is none
LinkName = Annotated[Array, Kind("link name", "text", askable=True)]  # [row] word, ANY for whatever there is
Group = Annotated[Array, Kind("attribute group", "text", askable=True)]  # [row] position in the groups of attributes
AnyWord = Annotated[Array, Kind("word", "text")]  # [row] word
Choices = Annotated[Array, Kind("choices")]  # [row, choice] words
Nothing = Annotated[Array, Kind("nothing")]  # [row] the result of an empty program

THINGS, GROUPS, SCENES, LINKS = kind(Things), kind(Groups), kind(Scenes), kind(Links)
THING, LINK, COUNT, NOUN, ATTRIBUTE = kind(Thing), kind(Link), kind(Count), kind(Noun), kind(Attribute)
LINK_NAME, GROUP, ANY_WORD, CHOICES, NOTHING = kind(LinkName), kind(Group), kind(AnyWord), kind(Choices), kind(Nothing)

ABSENT = UNKNOWN  # no value; compares equal to itself, as in COVR
PADDING = -2  # of a ragged row; equal to no word
ANY = -3  # in place of a link name
UNUSED = -4  # a word that no image uses

REASONS = ("does not exist", "not unique", "several attributes", "no common attribute", "neither option")
NOT_THERE, NOT_UNIQUE, SEVERAL, NO_COMMON, NEITHER = range(-10, -10 - len(REASONS), -1)  # a row that has no answer
