"""Videos or images that come from files, and those that come twice, although nobody has read all files."""

from collections.abc import Callable, Iterator, Sequence

from questree.faults import Fault

Repeated = Callable[[str, str], str]  # an id and the file of an earlier one -> what is said


class Met:
    """Videos or images in the order in which they came, and what was told before each: parts of a source find together
    what none of them sees alone."""

    def __init__(self) -> None:
        self.ids = list[str]()
        self.files = list[str]()  # the different ones
        self.file = list[int]()  # [id] in `files`
        self.before = list[int]()  # [id] faults
        self._file_of = dict[str, int]()

    def note(self, id: str, file: str, faults: int) -> str:
        """The file of the last one with this id; empty if there was none."""
        if not self.files or self.files[-1] != file:
            self.files.append(file)
        earlier, own = self._file_of.get(id), len(self.files) - 1
        self._file_of[id] = own
        self.ids.append(id)
        self.file.append(own)
        self.before.append(faults)
        return "" if earlier is None else self.files[earlier]


def with_repeated(parts: Sequence[tuple[Met, list[Fault]]], kind: str, said: Repeated) -> Iterator[Fault]:
    """The faults of parts, and what several of them have, as one reader of all files would tell them."""
    file_of = dict[str, str]()
    for met, faults in parts:
        told, own = 0, dict[str, str]()
        for id, file, before in zip(met.ids, met.file, met.before, strict=True):
            if id in file_of and id not in own:
                yield from faults[told:before]
                yield Fault(f"{met.files[file]}, {kind} {id}", said(id, file_of[id]))
                told = before
            own[id] = met.files[file]
        yield from faults[told:]
        file_of |= own
