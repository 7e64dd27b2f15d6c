"""What comes from outside the package: registries that plugin files add entries to, and how such files are loaded.

Most commands load none, and `questree --help` never: what only loading needs is imported where it is used."""

import errno
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Generic, TypeVar

from questree.faults import BadInput, Fault, refuse
from questree.places import may_be_path, path_of

GROUP = "questree.plugins"  # of entry points of installed packages
SETTINGS = "questree.toml"  # beside or in a run
KEYS = ("plugins", "without", "cluster")  # what it may set
OPTION = "--plugin"
Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Plugin:
    """A Python file, or a module of an installed package; small enough to send to any worker."""

    name: str  # as it was given, as faults say it
    file: Path
    module: str = ""  # of an installed package; a file alone has none

    @property
    def shown(self) -> str:
        """As runs keep it: without the folder it lies in, which is another one elsewhere."""
        return self.name if self.module else self.file.name

    @property
    def digest(self) -> str:
        from hashlib import blake2b

        return blake2b(self.file.read_bytes(), digest_size=16).hexdigest()


LOADED: dict[Path, Plugin] = {}  # in the order they were loaded
_checks = list[tuple[Plugin, Callable[[], None]]]()  # of links between plugins, for when all of them are there
_language = set[Path]()  # files of plugins without which questions cannot be read
_loading: ContextVar[Plugin | None] = ContextVar("_loading", default=None)


class Registry(dict[str, Entry], Generic[Entry]):
    """All entries of one kind by name, those of the package and those of plugins; a name is taken once."""

    def __init__(self, kind: str):
        super().__init__()
        self.kind = kind
        self.places: dict[str, str] = {}  # of every entry: the plugin's file, kind and name

    def add(self, name: str, entry: Entry, after: str = "") -> Entry:
        """Put an entry at the end, or right after another one where their order matters."""
        if not isinstance(name, str) or not name.strip():
            raise wrong(self.kind, str(name), f"expected a name, got {name!r}")
        if name in self:
            raise wrong(self.kind, name, f"expected a new name, got one that is taken; taken are {', '.join(self)}")
        if after and after not in self:
            known = ", ".join(self)
            raise wrong(self.kind, name, f"after: expected one that is there, got {after!r}; choose from {known}")
        names = [*self]
        names.insert(names.index(after) + 1 if after else len(names), name)
        entries = {**self, name: entry}
        self.clear()
        self.update((each, entries[each]) for each in names)
        self.places[name] = place_of(self.kind, name)
        return entry


def wrong(kind: str, name: str, message: str) -> BadInput:
    """What is wrong with an entry, said with the file it comes from."""
    return BadInput.at(place_of(kind, name), message)


def place_of(kind: str, name: str) -> str:
    """An entry of the plugin that is being loaded, as faults name it."""
    plugin = _loading.get()
    return f"{plugin.name}: {kind} {name}" if plugin else f"{kind} {name}"


def takes(kind: str, name: str, function: Any, *wanted: str, what: str = "") -> None:
    """Refuse what cannot be called with so many arguments, before it is."""
    if not callable(function):
        raise wrong(kind, name, f"{what}expected a function of ({', '.join(wanted)}), got {type(function).__name__}")
    try:
        inspect.signature(function).bind(*wanted)
    except TypeError:
        got = ", ".join(inspect.signature(function).parameters)
        raise wrong(kind, name, f"{what}expected a function of ({', '.join(wanted)}), got one of ({got})") from None


def declared(kind: str, name: str, wanted: Iterable[str], put: Callable[[Any], object]) -> Callable[[Any], Any]:
    """What every decorator of plugins does: check how its function is called, put it where its kind goes."""

    def declare(function: Any) -> Any:
        takes(kind, name, function, *wanted)
        put(function)
        return function

    return declare


def one_of(kind: str, name: str, what: str, got: str, choices: Iterable[str]) -> None:
    known = list(choices)
    if got not in known:
        raise wrong(kind, name, f"{what}: expected a known one, got {got!r}; choose from {', '.join(known)}")


def a_list(kind: str, name: str, what: str, got: Any) -> tuple[Any, ...]:
    """Refuse a text, which would be taken for a list of its letters."""
    if isinstance(got, str) or not isinstance(got, Iterable):
        said = f"a text {got!r}" if isinstance(got, str) else repr(got)
        raise wrong(kind, name, f"{what}: expected a list, got {said}")
    return tuple(got)


def when_all_are_loaded(check: Callable[[], None]) -> None:
    """Check a link to what another plugin may add; without a file that is being loaded there is no such moment."""
    if plugin := _loading.get():
        _checks.append((plugin, check))


def load(plugins: Iterable[Plugin]) -> None:
    """Load what is not loaded yet; the faults of all of them at once."""
    faults: list[Fault] = []
    for plugin in plugins:
        if plugin.file in LOADED:
            continue
        try:
            with _taking(plugin):
                _run(plugin)
            LOADED[plugin.file] = plugin
        except BadInput as bad:
            faults += bad.faults
    for plugin, check in _checks:
        try:
            if plugin.file in LOADED:  # another one has said what is wrong with it
                with _taking(plugin):
                    check()
        except BadInput as bad:
            faults += bad.faults
    _checks.clear()
    refuse(faults)


@contextmanager
def _taking(plugin: Plugin) -> Iterator[None]:
    token = _loading.set(plugin)
    try:
        yield
    except BadInput:
        raise
    except SyntaxError as error:
        place = error.filename if error.filename != str(plugin.file) else plugin.name
        raise BadInput.at(f"{place}, line {error.lineno}", f"SyntaxError: {error.msg}") from error
    except OSError as error:
        if error.filename == str(plugin.file):
            raise BadInput.at(plugin.name, f"cannot be read ({error.strerror})") from error
        if own := blamed(error, [plugin]):
            raise own from error
        raise
    except (Exception, SystemExit) as error:
        raise blamed(error, [plugin]) or BadInput.at(plugin.name, told(error)) from error
    finally:
        _loading.reset(token)


def _run(plugin: Plugin) -> None:
    if plugin.module:
        importlib.import_module(plugin.module)
        return
    name = f"questree_plugin_{plugin.file.stem}_{plugin.digest[:8]}"  # the same in every process, so that it pickles
    spec = importlib.util.spec_from_file_location(name, plugin.file)
    if spec is None or spec.loader is None:
        raise BadInput.at(plugin.name, "expected a Python file, got another name; choose one that ends in .py")
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def told(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def blamed(error: BaseException, plugins: Iterable[Plugin] = ()) -> BadInput | None:
    """An error that a plugin's own code ran into, as one line with its file; None if none had a part in it."""
    import traceback

    names = {str(plugin.file): plugin.name for plugin in (*LOADED.values(), *plugins)}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in names:
            return BadInput.at(f"{names[frame.filename]}, line {frame.lineno}", told(error))
    return None


def apart(arguments: Sequence[str], option: str) -> tuple[list[str], list[str]]:
    """The arguments of a command without an option that every command takes, and the values it was given."""
    rest, named, left = list[str](), list[str](), iter(arguments)
    for each in left:
        if each == "--":
            rest += [each, *left]
        elif each == option:
            named.append(next(left, ""))
        elif each.startswith(f"{option}="):
            named.append(each.partition("=")[2])
        else:
            rest.append(each)
    return rest, named


def wanted(arguments: Sequence[str]) -> tuple[list[str], list[Plugin]]:
    """The arguments of a command without --plugin, and all plugins it works with, installed ones first."""
    rest, named = apart(arguments, OPTION)
    refuse([Fault(OPTION, "expected a Python file, got nothing") for name in named if not name])
    command = any(not each.startswith("-") for each in rest)  # `questree --help` has nothing of installed packages
    beside = [plugin for run in _runs(rest) for plugin in configured(run)]
    files = [Plugin(name, Path(name).resolve()) for name in named]
    return rest, [*(installed() if command else ()), *beside, *files]


def _runs(arguments: list[str]) -> list[Path]:
    """Folders among the arguments that are runs; without one, where a new run will be written."""
    told = [path_of(each) for each in arguments if each and not each.startswith("-") and may_be_path(each)]
    there = [path for path in told if _is_run(path)]
    apart = [part for each in arguments for part in (each.split("=", 1) if each.startswith("--out=") else [each])]
    return there or [path_of(after) for each, after in pairwise(apart) if each == "--out"]


def _is_run(path: Path) -> bool:
    try:
        return (path / "vocabulary.toml").is_file() or (path / "images").is_dir()
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        return False  # an argument of another kind, which is judged by who takes it


def configured(run: Path) -> list[Plugin]:
    """The plugins named by questree.toml in the run's folder and in its parent; paths are relative to that file."""
    named = listed(run, "plugins", 'files as in ["near.py"]')
    missing = [(file, name) for file, name in named if not (file.parent / name).is_file()]
    refuse(
        [
            Fault(str(file), f"plugins: expected a Python file, got {name!r}, which is not there")
            for file, name in missing
        ]
    )
    return [Plugin(name, (file.parent / name).resolve()) for file, name in named]


def listed(run: Path, key: str, wanted: str) -> list[tuple[Path, str]]:
    """What questree.toml in the run's folder and in its parent list under a key, each with its file."""
    found = list[tuple[Path, str]]()
    for file, settings in _settings(run):
        names = settings.get(key, [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise BadInput.at(file, f"{key}: expected a list of {wanted}, got {names!r}")
        found += [(file, name) for name in names]
    return found


def set_text(run: Path, key: str) -> str:
    """What questree.toml in the run's folder says under a key, or else the one in its parent."""
    found = ""
    for file, settings in _settings(run):
        if not isinstance(given := settings.get(key, found), str):
            raise BadInput.at(file, f"{key}: expected a text, got {given!r}")
        found = given
    return found


def _settings(run: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Those of the parent first."""
    for file in (folder / SETTINGS for folder in (run.absolute().parent, run) if (folder / SETTINGS).is_file()):
        import tomllib

        try:
            settings = tomllib.loads(file.read_text("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise BadInput.at(file, f"not TOML ({error})") from error
        for other in (name for name in settings if name not in KEYS):
            raise BadInput.at(file, f"expected a known key, got {other!r}; choose from {', '.join(KEYS)}")
        yield file, settings


def installed() -> list[Plugin]:
    """Those of installed packages: entry points of the group questree.plugins, each naming a module."""
    from importlib.metadata import entry_points

    found = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            spec = importlib.util.find_spec(point.module)
        except ModuleNotFoundError:
            spec = None
        if spec is None or spec.origin is None:
            raise BadInput.at(f"plugin {point.name}", f"expected a module, got {point.value!r}, which is not there")
        found.append(Plugin(point.name, Path(spec.origin).resolve(), point.module))
    return found


def digests() -> dict[str, str]:
    """Loaded plugins and the digests of their files, for the lock file."""
    return {plugin.shown: plugin.digest for plugin in LOADED.values()}


def extends_language() -> None:
    """The plugin that is being loaded adds to what questions are made of: they cannot be read without it."""
    if plugin := _loading.get():
        _language.add(plugin.file)


def needed() -> dict[str, str]:
    """What questions that are made now need to be read, as a run keeps it: nothing, or plugins and their digests."""
    return {plugin.shown: plugin.digest for plugin in LOADED.values() if plugin.file in _language}


def require(plugins: Mapping[str, str], place: object) -> None:
    """Refuse questions whose operators and templates are not there."""
    there = {plugin.shown for plugin in LOADED.values()}
    missing = [name for name in plugins if name not in there]
    message = "made with the plugin {0}, which is not loaded; give it with --plugin {0}"
    refuse([Fault(str(place), message.format(name)) for name in missing])
