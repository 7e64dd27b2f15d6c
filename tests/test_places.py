"""Runs at URLs: the same commands, the same bytes, whole or not at all."""

import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import fsspec
import pytest

import questree
from questree.ask.journal import journal
from questree.faults import BadInput
from questree.places import Place, changed, forget, moved, path_of
from questree.places.lease import lease
from questree.places.seen import FINISHED, UNFINISHED, WRITING
from questree.places.stores import _store, files_below, get_bytes, put_bytes, store_of
from questree.tables.owners import remove, writing
from questree.tables.run import Run
from questree.tables.store import new_file, new_folder
from test_pages import commands as page_commands
from worlds import commands, other_stores, s3, stored

Contents = dict[str, dict[str, str]]  # medium -> name of every file -> digest of its content


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    with s3.served() as url:
        yield url


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("QUESTREE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def google_bucket() -> Iterator[str]:
    with other_stores.google() as url:
        yield url


@pytest.fixture(scope="module")
def azure_container() -> Iterator[str]:
    with other_stores.azure() as url:
        yield url


BASES = {"s3": "bucket", "gs": "google_bucket", "az": "azure_container"}
ATOMIC = pytest.mark.parametrize("at", ["memory", "s3", "az"], indirect=True)  # Google's emulator knows no conditions


@pytest.fixture(params=["memory", *BASES])
def at(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new place in a store."""
    known = BASES.get(request.param)
    return f"{request.getfixturevalue(known) if known else 'memory://bucket'}/{tmp_path.name}"


def write(target: Path, **files: str) -> None:
    with new_folder(target) as work:
        for name, text in files.items():
            (work / name).write_text(text)


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """From here on this process is as on another machine."""
    monkeypatch.setenv("QUESTREE_CACHE", str(tmp_path / "another"))
    forget()


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Contents:
    """What stages write on this machine's disk."""
    place, found = tmp_path_factory.mktemp("here"), Contents()
    for name, lines in {"videos": stored.VIDEOS, "images": stored.IMAGES}.items():
        stored.carried_out(lines, place / name)
        found[name] = stored.content(place / name)
    return found


def test_image_stages_in_memory_give_the_bytes_of_the_local_run(here: Contents, tmp_path: Path) -> None:
    at = f"memory://{tmp_path.name}"
    stored.carried_out(stored.IMAGES, at)
    assert stored.content(at) == here["images"]


def test_video_stages_in_s3_give_the_bytes_of_the_local_run_on_any_machine(
    bucket: str, here: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored.carried_out(stored.VIDEOS, f"{bucket}/videos")
    mine = stored.content(f"{bucket}/videos")
    assert mine == here["videos"]
    before = moved()
    elsewhere(monkeypatch, tmp_path)
    assert stored.content(f"{bucket}/videos") == mine
    assert moved().down - before.down > 500_000  # all of it was fetched
    run = questree.open(f"{bucket}/videos/run")
    assert (run.models, len(run.scopes)) == (["perception-noise"], 4)


@pytest.mark.parametrize("store", ["google_bucket", "azure_container"])
@pytest.mark.parametrize("medium", ["videos", "images"])
def test_stages_in_other_stores_give_the_bytes_of_the_local_run(
    store: str, medium: str, here: Contents, request: pytest.FixtureRequest
) -> None:
    at = f"{request.getfixturevalue(store)}/{medium}"
    stored.carried_out(stored.VIDEOS if medium == "videos" else stored.IMAGES, at)
    assert stored.content(at) == here[medium]


def test_a_store_that_lists_a_file_itself_by_its_name_is_understood(tmp_path: Path) -> None:
    """As Azure's does, which has no error for a container that is not there, either."""
    at = f"memory://{tmp_path.name}"
    put_bytes(f"{at}/file", b"abc")
    store = store_of(at)
    with patch.object(store, "find", lambda place, detail: [place]):
        assert [(name, entry.size) for name, entry in files_below(f"{at}/file").items()] == [("", 3)]
    gone = patch.multiple(store, find=lambda place, detail: {}, exists=lambda place: False, protocol="az")
    with gone, pytest.raises(BadInput, match="no such bucket"):
        files_below("memory://nowhere/run")


FILES = """
agqa --questions AT/videos/agqa/AGQA_balanced/train_balanced.txt --predictions AT/mine.jsonl
covr --questions AT/images/covr/train.jsonl --train AT/images/covr/train.jsonl --predictions AT/mine.jsonl
"""
LIMITS = {  # of parts that files without a run are scored by
    "formats.agqa_parts.BYTES": 1 << 14,
    "scoring.file_questions.SHARD": 1 << 15,
    "formats.covr_parts.BYTES": 1 << 11,
}


def test_a_cluster_on_a_store_delivers_the_same_bytes(bucket: str, here: Contents, tmp_path: Path) -> None:
    """Two worker processes with a mirror of their own, as on another machine; questree.toml beside the run names it."""
    pytest.importorskip("distributed")
    from worlds.dask_processes import dask_processes

    theirs = tmp_path / "another"
    with ExitStack() as stack:
        with patch.dict(os.environ, QUESTREE_CACHE=str(theirs)):
            cluster = stack.enter_context(dask_processes(2, tmp_path / "scratch"))
        for name, lines in {"videos": stored.VIDEOS, "images": stored.IMAGES}.items():
            at = f"{bucket}/cluster/{name}"
            put_bytes(f"{at}/questree.toml", f'cluster = "{cluster.address}"'.encode())
            stored.carried_out(lines, at)
            path_of(f"{at}/questree.toml").unlink()
            assert stored.content(at) == here[name]
        put_bytes(f"{bucket}/cluster/mine.jsonl", b'{"id": "V-1", "prediction": "yes"}')
        with ExitStack() as small:
            for limit, value in LIMITS.items():
                small.enter_context(patch(f"questree.{limit}", value))
            for line in FILES.strip().splitlines():
                words, found = line.replace("AT", f"{bucket}/cluster").split(), list[bytes]()
                for own in ("none", cluster.address):
                    told = (*words, "--cluster", own, "--missing", "wrong", "--resamples", 0)
                    done = commands.questree("score", *told, "--json", tmp_path / "scores.json", "--quiet")
                    assert done.returncode == 0, done.stderr
                    found.append((tmp_path / "scores.json").read_bytes())
                assert found[0] == found[1]
    left = [name for name in files_below(f"{bucket}/cluster") if ".part" in name or ".delivered" in name]
    assert (left, [*theirs.rglob("*.part")]) == ([], [])
    assert any(theirs.rglob("questions.parquet"))


def test_the_page_on_stores_works(bucket: str, tmp_path: Path) -> None:
    for line in page_commands("docs/storage.md"):
        commands.run(f"{line.replace('s3://BUCKET', bucket)} --quiet", tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", (Path(__file__).parents[1] / "docs" / "storage.md").read_text(), re.S)
    exec(block.replace("s3://BUCKET", bucket), {"questree": questree})
    assert (tmp_path / "decomp").is_dir()


@pytest.mark.parametrize("change", [2, 4, 9])
def test_a_command_killed_while_it_uploads_leaves_nothing_half_and_is_done_again(
    change: int, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{bucket}/killed-{change}"
    lines = "synth --out AT/world --videos 2 --seed 3\ningest action-genome AT/world --out AT/run"
    stored.carried_out(f"{lines}\naugment AT/run", tmp_path / "here")
    stored.carried_out(lines, url)
    assert stored.killed(change, "augment", f"{url}/run")
    elsewhere(monkeypatch, tmp_path)
    run = Run(path_of(f"{url}/run"))
    assert not run.facts.exists() or run.load("facts").told  # not there, or whole
    stored.carried_out("augment AT/run", url)
    assert stored.content(url) == stored.content(tmp_path / "here")


def test_a_folder_without_its_marker_is_not_there_until_it_is_written_again(at: str) -> None:
    folder = path_of(f"{at}/table")
    write(folder, a="1", b="2")
    assert texts(folder) == {"a": "1", "b": "2"}
    assert set(files_below(f"{at}/table")) == {"a", "b", FINISHED}
    put_bytes(f"{at}/table/{UNFINISHED}", b"{}")  # of a dead writer, that took the marker away
    path_of(f"{at}/table/{FINISHED}").unlink()
    forget()
    assert not folder.exists() and not (folder / "a").exists() and list(path_of(at).iterdir()) == []
    with pytest.raises(FileNotFoundError):
        (folder / "a").read_text()
    write(folder, c="3")
    assert texts(folder) == {"c": "3"}
    assert set(files_below(f"{at}/table")) == {"c", FINISHED}


def test_an_error_while_uploading_leaves_nothing_and_the_next_one_writes_at_once(at: str) -> None:
    folder = path_of(f"{at}/table")
    with patch("questree.places.publish._marked", side_effect=BadInput.at("x", "gone")), pytest.raises(BadInput):
        write(folder, a="1")
    assert not folder.exists()
    write(folder, a="2")
    assert texts(folder) == {"a": "2"}


def test_an_error_before_uploading_leaves_what_was_there(at: str) -> None:
    folder = path_of(f"{at}/table")
    write(folder, a="1")
    with pytest.raises(RuntimeError), new_folder(folder) as work:
        (work / "a").write_text("2")
        raise RuntimeError
    assert texts(folder) == {"a": "1"}


@ATOMIC
def test_two_writers_of_one_shard_give_one_whole_shard(at: str) -> None:
    folder = path_of(f"{at}/shard")
    both = [{"a": str(number), "b": str(number), f"only{number}": "x"} for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(write, folder, **files) for files in both]:
            done.result()
    forget()
    assert texts(folder) in both
    os.environ["QUESTREE_CACHE"] += "-another"  # and the marker says so too: content is checked when it is fetched
    assert texts(folder) in both


def test_a_file_that_is_not_what_its_marker_says_is_refused(
    at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = path_of(f"{at}/table")
    write(folder, a="whole")
    put_bytes(f"{at}/table/a", b"other")
    elsewhere(monkeypatch, tmp_path)
    with pytest.raises(BadInput, match="not what its marker says"):
        (folder / "a").read_text()


def test_a_file_takes_the_place_of_another_in_one_step(
    at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = path_of(f"{at}/table")
    write(folder, a="1")
    gone = patch("questree.places.publish.put", side_effect=KeyboardInterrupt)  # between its marker and its content
    with gone, pytest.raises(KeyboardInterrupt), new_file(folder / "a") as work:
        work.write_text("2")
    elsewhere(monkeypatch, tmp_path)
    assert (folder / "a").read_text() == "1"
    with new_file(folder / "a") as work:
        work.write_text("3")
    elsewhere(monkeypatch, tmp_path / "again")
    assert texts(folder) == {"a": "3"}
    (folder / "a").unlink()
    assert texts(folder) == {}
    remove(folder)
    assert files_below(f"{at}/table") == {}


def test_what_others_put_there_is_read_and_seen_when_it_changes(at: str) -> None:
    put_bytes(f"{at}/given/words.json", b"{}")
    assert path_of(f"{at}/given/words.json").read_text() == "{}"
    assert [path.name for path in path_of(f"{at}/given").glob("*.json")] == ["words.json"]
    put_bytes(f"{at}/given/words.json", b"[1]")
    assert path_of(f"{at}/given/words.json").read_text() == "[1]"
    assert path_of(f"{at}/given/words.json").stat().st_size == 3


@pytest.mark.parametrize("at", ["memory", "s3"], indirect=True)  # the others' servers take no such keys
def test_keys_that_are_no_names_of_files_are_left_alone(at: str) -> None:
    put_bytes(f"{at}/given/../../../escaped", b"x")
    put_bytes(f"{at}/given/plain", b"y")
    assert [path.name for path in path_of(f"{at}/given").rglob("*")] == ["plain"]


def test_a_run_that_was_copied_out_of_a_store_is_a_run(bucket: str, tmp_path: Path) -> None:
    lines = "synth --out AT/world --videos 2 --seed 3\ningest action-genome AT/world --out AT/run\naugment AT/run"
    stored.carried_out(lines, f"{bucket}/copied")
    store_of(bucket).get(f"{bucket}/copied/run/", str(tmp_path / "run"), recursive=True)
    assert (tmp_path / "run" / "facts" / FINISHED).is_file()
    stored.carried_out("verify AT/run\ngenerate AT/run\nverify AT/run", tmp_path)


@ATOMIC
def test_one_command_at_a_time_writes_in_a_run(at: str) -> None:
    run = path_of(f"{at}/run")
    write(run, a="1")
    other = lease(f"{at}/run/{WRITING}", "`questree split` (process 3 on elsewhere)")
    refused = pytest.raises(BadInput, match=r"`questree split` \(process 3 on elsewhere\) is writing here")
    with other, refused, writing(run, "generate"):
        raise AssertionError("it was let in")
    with writing(run, "generate"), writing(run, "generate"):  # our own
        assert b"questree generate" in (get_bytes(f"{at}/run/{WRITING}") or b"")
    assert get_bytes(f"{at}/run/{WRITING}") is None


@pytest.mark.parametrize(
    "left", [b'{"who": "a", "host": "HOST", "process": 999999999, "time": NOW}', b'{"time": 7}', b"?"]
)
def test_the_lock_of_a_dead_command_is_taken_over(left: bytes, at: str) -> None:
    import socket
    import time

    run = path_of(f"{at}/run")
    write(run, a="1")
    note = left.replace(b"HOST", socket.gethostname().encode()).replace(b"NOW", str(time.time()).encode())
    put_bytes(f"{at}/run/{WRITING}", note)
    with writing(run, "generate"):
        assert b"questree generate" in (get_bytes(f"{at}/run/{WRITING}") or b"")
    assert get_bytes(f"{at}/run/{WRITING}") is None


def test_a_file_that_is_changed_in_place_is_in_the_store_at_the_end(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    book = path_of(f"{at}/people.sqlite")
    with changed(book) as file:
        file.write_text("one")
    with changed(book) as file:
        assert file.read_text() == "one"
        file.write_text("two")
    assert get_bytes(f"{at}/people.sqlite") == b"two"
    with patch("questree.places.in_place.published_file"), changed(book) as file:
        file.write_text("three")  # killed before it was uploaded
    with changed(book) as file:
        assert file.read_text() == "three"  # gone on with
        put_bytes(f"{at}/people.sqlite", b"of another machine")
        monkeypatch.setattr("questree.places.in_place.published_file", lambda *_: None)
    forget()
    with pytest.raises(BadInput, match="changed elsewhere since"), changed(book):
        pass


def test_what_models_said_is_in_the_store_at_the_end(at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = path_of(f"{at}/run/asked")
    with journal(folder, "a model") as known:
        known.keep_prompt("digest", "name", "template")
        with pytest.raises(BadInput, match="another command is asking a model now"), journal(folder, "a model"):
            pass
    elsewhere(monkeypatch, tmp_path)
    with journal(folder, "a model") as known:
        assert known.file.execute("select name from prompts").fetchall() == [("name",)]
    assert sorted(path.name for path in folder.iterdir()) == ["a-model.sqlite"]


def test_the_text_of_a_place_is_its_url_and_it_travels_as_such(bucket: str, tmp_path: Path) -> None:
    import pickle

    folder = path_of(f"{bucket}/x/run")
    assert isinstance(folder, Place) and str(folder / "facts") == f"{bucket}/x/run/facts"
    assert (folder / "facts" / ".." / "raw").url == f"{bucket}/x/run/raw"
    assert pickle.loads(pickle.dumps(folder)) == folder
    with pytest.raises(BadInput, match="memory://a/b: is seen by one process"):
        pickle.dumps(path_of("memory://a/b"))
    assert path_of(f"file://{tmp_path}") == tmp_path and not isinstance(path_of(f"file://{tmp_path}"), Place)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("s3://no-such-bucket-here/run", "error: s3://no-such-bucket-here/run: no such bucket"),
        (
            "ftp://host/run",
            "error: ftp://host/run: expected a known scheme, got ftp; choose from file, s3, gs, az, memory",
        ),
        ("s3://", "error: s3://: expected a URL with a bucket, as in s3://bucket/run"),
        ("gs://bucket/run", "error: gs://: needs the package gcsfs, which is not installed; `pip install gcsfs`"),
        ("az://bucket/run", "error: az://: needs the package adlfs, which is not installed; `pip install adlfs`"),
        (
            "memory://nothing/here",
            "error: memory://nothing/here: expected a run folder, got nothing there; make one with `questree build`",
        ),
    ],
)
def test_what_is_wrong_with_a_url_is_one_line(
    url: str, said: str, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def installed(scheme: str, **how: Any) -> Any:
        if scheme in ("gs", "az"):
            raise ImportError
        return filesystem(scheme, **how)

    filesystem = fsspec.filesystem
    monkeypatch.setattr(fsspec, "filesystem", installed)
    _store.cache_clear()
    done = commands.questree("augment", url)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"{said}\n")


def test_a_store_that_is_gone_and_one_that_keeps_us_out_are_one_line(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from questree.places import stores

    run = path_of(f"{bucket}/gone")
    write(run, a="1")
    with patch.object(type(stores.store_of(bucket)), "find", side_effect=PermissionError("Access Denied")):
        done = commands.questree("verify", run)
    assert done.stderr == f"error: {run}: no access (Access Denied)\n"
    told = f"Could not connect with {s3.SECRET} to http://host/b?X-Amz-Signature=abc"
    with patch.object(type(stores.store_of(bucket)), "find", side_effect=ConnectionError(told)):
        done = commands.questree("verify", run)
    assert done.stderr == f"error: {run}: the store does not answer (Could not connect with ... to http://host/b?...)\n"


@pytest.mark.parametrize("url", ["s3://key:hush-hush@bucket/run", "s3://bucket/run?token=hush-hush"])
def test_secrets_in_urls_are_refused_and_never_said(url: str) -> None:
    for words in (("augment", url), ("report", "run", "--out", url), ("ingest", "gqa", url, "--out", "x")):
        done = commands.questree(*words)
        assert done.returncode == 1 and "expected a URL without credentials" in done.stderr
        assert "hush" not in done.stdout + done.stderr
    with pytest.raises(BadInput) as refused:
        questree.open(url)
    assert "hush" not in str(refused.value)


def test_secrets_of_the_environment_are_in_no_line_and_in_no_file(bucket: str, tmp_path: Path) -> None:
    lines = "synth --out AT/world --videos 2 --seed 3\ningest action-genome AT/world --out AT/run\nverify AT/run"
    for line in lines.splitlines():
        done = commands.questree(*line.replace("AT", f"{bucket}/secret").split())
        assert done.returncode == 0 and s3.SECRET not in done.stdout + done.stderr
    everything = [path for base in (tmp_path, Path(os.environ["QUESTREE_CACHE"])) for path in base.rglob("*")]
    assert [path for path in everything if path.is_file() and s3.SECRET.encode() in path.read_bytes()] == []
    there = [get_bytes(f"{bucket}/secret/{name}") for name in files_below(f"{bucket}/secret")]
    assert there and not any(s3.SECRET.encode() in (data or b"") for data in there)
