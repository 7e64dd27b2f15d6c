"""The kinds of the image language, and the language itself."""

from typing import Annotated

from questree.domains.images import english
from questree.domains.images.english import after_is
from questree.domains.images.links import relation, said_of
from questree.terms import UNKNOWN, Array, Kind, Language, kind

IMAGES = Language("images")

Things = Annotated[Array, Kind("things", narrows=True)]  # [row, page] sets of things as bits
Thing = Annotated[Array, Kind("thing", evidence=lambda world, value: world.holding(value))]  # [row] row in the corpus
# [row, place] edges of the corpus, PADDING
Links = Annotated[Array, Kind("links", evidence=lambda world, value: world.targets(value))]
Link = Annotated[Array, Kind("link", evidence=lambda world, value: world.targets(value[:, None]))]  # [row] edge
Groups = Annotated[Array, Kind("groups")]  # [row, page] things as bits, to be read image by image
Scenes = Annotated[Array, Kind("scenes")]  # [row, page] which images: true on the first page of each
Count = Annotated[  # [row]
    Array,
    Kind("count", "number", askable=True, say=lambda word, form: english.up_to(word) if form == "up to" else word),
]
Noun = Annotated[Array, Kind("noun", "text", askable=True, say=english.noun)]  # [row] word
Attribute = Annotated[  # [row] word, ABSENT if there is none
    Array, Kind("attribute", "text", askable=True, say=lambda word, form: after_is(word), absent=True)
]
LinkName = Annotated[  # [row] word, ANY for whatever there is
    Array,
    Kind("link name", "text", askable=True, say=lambda word, form: said_of(word, form) if form else relation(word)),
]
# [row] position in the groups of attributes
Group = Annotated[Array, Kind("attribute group", "text", askable=True, absent=True)]
AnyWord = Annotated[Array, Kind("word", "text")]  # [row] word
Choices = Annotated[Array, Kind("choices")]  # [row, choice] words
Nothing = Annotated[Array, Kind("nothing", absent=True)]  # [row] the result of an empty program

THINGS, GROUPS, SCENES, LINKS = kind(Things), kind(Groups), kind(Scenes), kind(Links)
THING, LINK, COUNT, NOUN, ATTRIBUTE = kind(Thing), kind(Link), kind(Count), kind(Noun), kind(Attribute)
LINK_NAME, GROUP, ANY_WORD, CHOICES, NOTHING = kind(LinkName), kind(Group), kind(AnyWord), kind(Choices), kind(Nothing)

ABSENT = UNKNOWN  # no value; compares equal to itself, as in COVR
PADDING = -2  # of a ragged row; equal to no word
ANY = -3  # in place of a link name
UNUSED = -4  # a word that no image uses
