"""People's own files shared out: small ones together, a large one with a record on each line in parts."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from questree.faults import BadInput
from questree.sources.own_json import OwnRows, OwnVideos, also_in
from questree.sources.own_records import LINES, OwnFiles, own_files
from questree.sources.shared_videos import PiecedReading, Sharing, read_parts, read_whole
from questree.tables.store import is_packed
from questree.vocabulary.words import Vocabulary

OWN_VIDEOS = "json"  # the source, as it is called
BYTES = 1 << 24  # of files that are read as one part, unless it is one file


def own_parts(source: Path) -> list[OwnFiles]:
    """The files of a folder, several small ones together; parts of a large one that has a record on each line."""
    found, few, room = list[OwnFiles](), list[Path](), BYTES
    for path in own_files(source):
        size = path.stat().st_size
        if few and size > room:
            found.append(OwnFiles(tuple(few)))
            few, room = [], BYTES
        if size > BYTES and path.suffix == LINES and not is_packed(path):
            found += [OwnFiles((path,), lines) for lines in line_spans(path, size, BYTES)]
        else:
            few.append(path)
            room -= size
    return [*found, OwnFiles(tuple(few))] if few else found


def line_spans(path: Path, size: int, most: int) -> Iterator[tuple[int, int]]:
    """Begin and end of about so many bytes each, at ends of lines; size: of the file."""
    begin = 0
    with path.open("rb") as file:
        while begin < size:
            file.seek(min(begin + most, size))
            file.readline()
            end = file.tell()
            yield begin, end
            begin = end


@dataclass(frozen=True)
class OwnVideoFiles(OwnFiles):
    """Some files of videos."""

    def take(self, vocabulary: Vocabulary) -> OwnRows:
        taken = OwnRows(vocabulary)
        for video, path in self.records(OwnVideos, taken.faults):
            taken.video(video, path)
        return taken


def share_own_json(source: Path, vocabulary: Vocabulary, sharing: Sharing) -> PiecedReading:
    """The same in parts. What is wrong with a part of a file is told of the whole file, whose lines are counted."""
    parts = [OwnVideoFiles(part.paths, part.lines) for part in own_parts(source)]
    try:
        return read_parts(sharing, source, vocabulary, parts, also_in)
    except BadInput:
        if not any(part.lines for part in parts):
            raise
        return read_whole(sharing, OWN_VIDEOS, source, vocabulary, {})
