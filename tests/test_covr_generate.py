"""Questions about sets of images: a naive judge gives their answers; sets as the rules want them; twins, parts."""

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from judges import naive_covr
from judges.images import Judge
from questree.benchmarks.covr.templates import BY_NAME, TEMPLATES
from questree.cli.app import app
from questree.columns.draws import Draws
from questree.domains.images import IMAGES
from questree.domains.images.graph import to_json
from questree.faults import BadInput
from questree.notation import own
from questree.search.word_tables import WordTables
from questree.sources.covr import read_scenes
from questree.stages.drafts.builders import drafts
from questree.stages.drafts.chunk import Workshop
from questree.stages.drafts.parts import only, part_of
from questree.stages.drafts.sources import DraftSource
from questree.stages.drafts.whole_run import DraftOptions, DraftReport, generate, options_of
from questree.tables.image_questions import answered
from questree.tables.images import Images
from questree.tables.questions import with_programs
from questree.tables.run import Run
from questree.terms import Node, walk
from test_pages import ROOT, commands
from worlds.exported_worlds import content
from worlds.made_up_images import attribute_groups, made_up_run, write_words
from worlds.workshops import workshop_of

IMAGE_COUNT, QUESTIONS = 240, 1800


@dataclass(frozen=True)
class Made:
    run: Run
    words: Path
    scenes: dict[str, Any]
    report: DraftReport
    questions: pl.DataFrame
    ids: list[str]  # of images


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("covr")
    run, scenes = made_up_run(folder, IMAGE_COUNT)
    words = write_words(folder / "words")
    report = generate(run, DraftOptions(QUESTIONS, 3, words), workers=1)
    ids = Images.load(run.images).images["id"].to_list()
    return Made(run, words, scenes, report, with_programs(answered(run)), ids)


class SetJudge(Judge):
    """The judge of programs, about one question's images; counts and quantified things are noted."""

    def __init__(self, made: Made, images: list[int]):
        super().__init__(made.scenes, attribute_groups(), [made.ids[image] for image in images])
        self.noted: list[tuple[str, Any]] = []

    def do_count(self, members: Any) -> int:
        self.noted.append(("count", len(members)))
        return super().do_count(members)

    def do_all(self, things: set[str], condition: set[str]) -> bool:
        self.noted.append(("things", len(things)))
        return super().do_all(things, condition)

    def do_some(self, things: set[str], condition: set[str]) -> bool:
        self.noted.append(("things", len(things)))
        return super().do_some(things, condition)

    def do_all_same(self, things: set[str], group: str) -> bool:
        self.noted += [("things", len(things)), *(("values", len(self.values(key, group))) for key in things)]
        return super().do_all_same(things, group)

    def do_query_attr(self, thing: str, group: str) -> str | None:
        self.noted.append(("values", len(self.values(thing, group))))
        return super().do_query_attr(thing, group)


def rows(made: Made) -> Iterator[dict[str, Any]]:
    return made.questions.iter_rows(named=True)


def test_every_template_is_asked(made: Made) -> None:
    assert set(made.questions["template"]) == {template.name for template in TEMPLATES}


def test_a_naive_judge_gives_the_same_answers(made: Made) -> None:
    for row in rows(made):
        value = SetJudge(made, row["images"]).value(own.parse(row["program"], IMAGES))
        assert row["answer"] == ({True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value))


def test_nobody_counts_beyond_five_or_asks_about_all_of_one_thing_or_for_a_missing_attribute(made: Made) -> None:
    for row in rows(made):
        judge = SetJudge(made, row["images"])
        judge.value(own.parse(row["program"], IMAGES))
        assert all(number <= 5 for what, number in judge.noted if what == "count"), row["question"]
        assert all(number >= 2 for what, number in judge.noted if what == "things"), row["question"]
        assert all(number >= 1 for what, number in judge.noted if what == "values"), row["question"]


def test_the_two_options_of_an_attribute_never_hold_both(made: Made) -> None:
    chosen = [row for row in rows(made) if row["template"] == "CHOOSEATTR"]
    assert chosen
    for row in chosen:
        node = own.parse(row["program"], IMAGES)
        judge = SetJudge(made, row["images"])
        thing, x, y = map(judge.argument, node.args)
        assert len({x, y} & set(judge.objects[thing]["attributes"])) == 1


def test_a_set_has_two_to_five_different_images_of_its_part(made: Made) -> None:
    part = part_of(Images.load(made.run.images).images)
    for row in rows(made):
        assert 2 <= len(set(row["images"])) == len(row["images"]) <= 5
        assert {part[image] for image in row["images"]} == {row["split"]}


def test_twins_have_one_text_and_program_but_other_images_and_answers(made: Made) -> None:
    sizes = Counter(made.questions["pair"])
    assert set(sizes.values()) == {1, 2}
    for own_rows in made.questions.partition_by("pair"):
        if len(own_rows) == 2:
            for same in ("question", "program", "template", "split"):
                assert own_rows[same].n_unique() == 1
            assert own_rows["answer"].n_unique() == 2
            assert len({frozenset(images) for images in own_rows["images"]}) == 2
    alone = made.questions.filter(pl.len().over("pair") == 1)
    assert not any(BY_NAME[name].twin for name in alone["template"])


def test_the_parts_share_no_image_and_dev_and_test_no_text(made: Made) -> None:
    images = {split: set(own["images"].explode()) for (split,), own in made.questions.group_by("split")}
    texts = {split: set(own["question"]) for (split,), own in made.questions.group_by("split")}
    assert images.keys() == {"train", "dev", "test"}
    assert not (images["train"] & images["dev"] or images["train"] & images["test"] or images["dev"] & images["test"])
    assert not texts["dev"] & texts["test"]


def test_nothing_is_asked_twice(made: Made) -> None:
    assert made.questions["id"].is_unique().all()
    asked = [(row["question"], row["answer"], frozenset(row["images"])) for row in rows(made)]
    assert len(asked) == len(set(asked))


def test_a_text_has_one_program(made: Made) -> None:
    assert made.questions.select(pl.col("program").n_unique().over("question") == 1).to_series().all()


def test_texts_are_tidy(made: Made) -> None:
    for text in made.questions["question"]:
        assert re.fullmatch(r"[A-Z][^?]*\?", text), text
        assert "  " not in text
        assert not re.search(r"\b(a|an) (a|an|the)\b|\ba [aeio]|\b1 images|[{}]|:_", text), text
        assert not re.search(r"\bone (are|have)\b|\bthey is\b|\bs is\b", text), text


def test_between_one_and_so_many_means_what_it_says(made: Made) -> None:
    """Images without the thing are no group; the English does not count them either."""
    up_to = re.compile(r"between 1 and (\d)|1 or (2)")
    asked = [row for row in rows(made) if up_to.search(row["question"]) and row["template"] == "COUNTGROUPBY"]
    assert asked
    for row in asked:
        node = own.parse(row["program"], IMAGES)
        found = next(inner for inner in walk(node) if isinstance(inner, Node) and inner.op.name == "group_by_images")
        judge, size = SetJudge(made, row["images"]), int("".join(up_to.findall(row["question"])[0]))
        counts = Counter(judge.image[key] for key in judge.argument(found.args[0]))
        assert int(row["answer"]) == sum(1 <= count <= size for count in counts.values())


def test_sizes_are_those_of_the_references(made: Made) -> None:
    for row in rows(made):
        assert 1 <= row["length"] <= 7
        assert row["depth"] in (1, 3, 4, 5)
        assert row["attributes"] <= 8
    plain = made.questions.filter(pl.col("question").str.contains(r"^How many \w+ are there\?$"))
    assert len(plain)
    assert set(plain.select("length", "depth", "attributes").iter_rows()) == {(1, 1, 0)}


def test_the_report_adds_up(made: Made) -> None:
    counted = {split: dict(Counter(own["template"])) for (split,), own in made.questions.group_by("split")}
    for split, counts in made.report.questions.items():
        assert {name: n for name, n in counts.items() if n} == counted[split]
    assert made.report.total == len(made.questions)
    assert QUESTIONS * 0.9 < made.report.total <= QUESTIONS
    assert made.report.dropped["QUERYOBJECT"]["not unique"] > 0
    twins = made.questions.filter(pl.len().over("pair") == 2)
    assert sum(sum(own.values()) for own in made.report.paired.values()) == len(twins)
    assert len(twins) > len(made.questions) / 2


@pytest.mark.processes
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(made: Made, tmp_path: Path) -> None:
    run = Run(tmp_path / "run")
    Path(run.folder).mkdir()
    (run.folder / "images").symlink_to(made.run.images)
    generate(run, DraftOptions(150, 3, made.words), workers=1)
    first = content(run.covr / "questions")
    generate(run, DraftOptions(150, 3, made.words), workers=2)
    assert content(run.covr / "questions") == first
    generate(run, DraftOptions(150, 4, made.words), workers=1)
    assert content(run.covr / "questions") != first


def sources(made: Made) -> tuple[Workshop, list[DraftSource]]:
    images = Images.load(made.run.images)
    shop = workshop_of(images, WordTables.read(made.words))
    return shop, list(shop.sources(range(40), 4, 5))


def test_a_set_has_an_image_without_the_reference_and_the_first_one_with_it(made: Made) -> None:
    shop, found = sources(made)
    read = {name: naive_covr.objects(scene) for name, scene in made.scenes.items()}
    checked = Counter[str]()
    for source in found:
        pattern = naive_covr.pattern(to_json(source.graph))[0]
        for draft in drafts(source, TEMPLATES, Counter()):
            times = [[naive_covr.number_of_roots(read[shop.ids[i]], pattern) for i in images] for images in draft.sets]
            assert any(number >= source.times for number in times[0]) or draft.template.name == "VERIFYLOGIC"
            assert all(any(number < source.times for number in each) for each in times), draft.text
            lowest, highest = draft.template.positives
            with_it = [sum(number >= source.times for number in each) for each in times]
            assert all(number <= highest for number in with_it), draft.text
            assert with_it[0] >= min(lowest, 1), draft.text
            checked[draft.template.name] += 1
    assert len(checked) == len(TEMPLATES) - 2  # those that verify numbers are made from them later


def test_counts_have_two_distractors(made: Made) -> None:
    shop, found = sources(made)
    read = {name: naive_covr.objects(scene) for name, scene in made.scenes.items()}
    asked = [
        (source, draft)
        for source in found
        for draft in drafts(source, TEMPLATES, Counter())
        if draft.template.name == "COUNT"
    ]
    assert asked
    for source, draft in asked:
        pattern = naive_covr.pattern(to_json(source.graph))[0]
        for images in draft.sets:
            without = [i for i in images if not naive_covr.number_of_roots(read[shop.ids[i]], pattern)]
            assert len(without) >= 2


def packing(folder: Path) -> tuple[Images, dict[str, Any]]:
    """Who packs what into what: every combination, as imSitu's scenes are."""
    scenes = {}
    for at, names in enumerate(product(("man", "woman"), ("salt", "food"), ("bag", "box"))):
        who, what, where = (f"packing_{at}_{i}" for i in range(3))
        into = {"name": "packing", "object": what, "prepositions": [{"name": "packing:_into", "object": where}]}
        things: dict[str, Any] = {}
        for key, name in zip((who, what, where), names, strict=True):
            things[key] = {"name": name, "attributes": [], "relations": [into] if key == who else []}
        scenes[f"packing_{at}"] = {"objects": things}
    (folder / "scenes.json").write_text(json.dumps({"imsitu": scenes}), "utf-8")
    return read_scenes(folder / "scenes.json").images, scenes


def test_what_something_is_packed_into_is_asked_for(made: Made, tmp_path: Path) -> None:
    images, scenes = packing(tmp_path)
    shop = workshop_of(images, WordTables.read(made.words))
    asked = shop.questions(range(len(images.images)), 8, 1).questions
    texts = set(asked["question"])
    assert "What is the woman packing salt into?" in texts
    assert any("packing food into a box" in text for text in texts)
    assert texts & {
        "Is the man packing food into a bag or a box?",
        "Is the man packing food into a box or a bag?",
    }
    for row in asked.iter_rows(named=True):
        judge = Judge(scenes, {}, [shop.ids[image] for image in row["images"]])
        value = judge.value(own.parse(row["program"], IMAGES))
        assert row["answer"] == ({True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value))


def test_images_keep_what_is_said_about_them_when_some_are_left_out(made: Made) -> None:
    images = Images.load(made.run.images)
    chosen = np.arange(len(images.images)) % 3 == 1
    few = only(images, chosen)
    assert few.images["id"].to_list() == [name for name, kept in zip(made.ids, chosen, strict=True) if kept]
    assert said(few) == {name: about for name, about in said(images).items() if name in set(few.images["id"])}


def said(images: Images) -> dict[str, list[Any]]:
    """Image -> what is said about its things, by their ids."""
    words, things = images.words["word"], images.things["id"]
    found: dict[str, list[Any]] = {name: [] for name in images.images["id"]}
    owner = [images.images["id"][image] for image in images.things["image"]]
    for at, name in enumerate(images.things["name"]):
        found[owner[at]].append((things[at], words[name]))
    for thing, value in images.attributes.iter_rows():
        found[owner[thing]].append((things[thing], words[value]))
    for subject, link, target in images.relations.iter_rows():
        found[owner[subject]].append((things[subject], words[link], things[target]))
    return found


def test_without_a_split_of_the_source_images_are_dealt_by_hash(made: Made) -> None:
    images = Images.load(made.run.images)
    part = part_of(images.images.with_columns(split=pl.lit("")))
    shares = {name: float(np.mean(part == name)) for name in ("train", "dev", "test")}
    assert shares["train"] == pytest.approx(0.8, abs=0.08)
    assert shares["dev"] == pytest.approx(0.1, abs=0.06)
    source = part_of(images.images)
    assert set(source[(images.images["split"] == "train").to_numpy()]) == {"train"}
    assert set(source[(images.images["split"] == "val").to_numpy()]) == {"dev", "test"}


def test_a_given_train_dev_and_test_is_kept_and_other_images_are_dealt_out(made: Made) -> None:
    images = Images.load(made.run.images)
    given = np.array(["train", "dev", "test", "val", ""])[np.arange(len(images.images)) % 5]
    part = part_of(images.images.with_columns(split=pl.Series(given)))
    for name in ("train", "dev", "test"):
        assert set(part[given == name]) == {name}
    assert set(part[given == "val"]) == set(part[given == ""]) == {"dev", "test"}
    without_dev = np.where(given == "dev", "val", given)  # so test is no part of its own
    part = part_of(images.images.with_columns(split=pl.Series(without_dev)))
    assert set(part[given == "test"]) == {"dev", "test"}


def test_wrong_options_are_all_told_and_nothing_is_written(made: Made, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"questions: expected at least 1, got 0\nseed: expected at least 0, got -1"):
        DraftOptions(0, -1)
    run = Run(tmp_path)
    (run.folder / "images").symlink_to(made.run.images)
    with pytest.raises(BadInput, match="no such folder"):
        generate(run, DraftOptions(10, 1, tmp_path / "nowhere"), workers=1)
    assert not run.covr.exists()


def test_draws_follow_from_their_key() -> None:
    assert [Draws("a", 1).below(10) for _ in range(3)] == [Draws("a", 1).below(10)] * 3
    draws = Draws("b")
    assert sorted(draws.shuffled(range(9))) == list(range(9))
    assert len(set(draws.some(range(9), 4))) == 4
    assert draws.some([1, 2], 5) in ([1, 2], [2, 1])
    assert Counter(Draws(i).below(4) for i in range(4000)) == pytest.approx(dict.fromkeys(range(4), 1000), rel=0.15)


def test_the_page_on_image_questions_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = commands("docs/covr.md")
    assert [line.split()[1] for line in lines] == ["synth", "ingest", "generate", "balance", "covr"]
    for line in lines:
        more = ["--workers", "1"] if "generate" in line else []
        app([*shlex.split(line)[1:], *more], exit_on_error=False, result_action="return_value")
    said, page = capsys.readouterr().out, (ROOT / "docs" / "covr.md").read_text("utf-8")
    shown = page.split("```")[3].strip().splitlines()  # what the page prints, but for what it leaves out
    assert {wordy(line) for line in shown} - {"..."} <= {wordy(line) for line in said.splitlines()}


def wordy(line: str) -> str:
    """Without numbers and reasons: they change with every word of the tables."""
    return (
        " ".join(re.sub(r"[\d.,]+(?= |$)", "#", line.split(" dropped ")[0]).split()) if line.strip() != "..." else "..."
    )


def test_images_that_somebody_sees_the_reference_in_do_not_distract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = made_up_run(tmp_path, 120)
    seen = (
        "def nothing(checks):\n    return [0.0] * len(checks)\n\n\ndef all(checks):\n    return [1.0] * len(checks)\n"
    )
    (tmp_path / "looking.py").write_text(seen)
    monkeypatch.chdir(tmp_path)
    before = generate(run, DraftOptions(200, 1), workers=1).total
    assert generate(run, DraftOptions(200, 1, verify="looking:nothing"), workers=1).total == before > 0
    assert generate(run, DraftOptions(200, 1, verify="looking:all"), workers=1).total < before
    with pytest.raises(BadInput, match="neither a file nor a function"):
        generate(run, DraftOptions(200, 1, verify="looking:who"), workers=1)


def distracting(made: Made, near: bool) -> list[tuple[DraftSource, list[int]]]:
    """The images of every set to count in that do not contain the reference."""
    images = Images.load(made.run.images)
    words = WordTables.read(made.words)
    shop = workshop_of(images, words, templates=[BY_NAME["COUNT"]], near=near)
    return [
        (source, [image for image in images if image not in {*source.near.positives, source.image}])
        for source in shop.sources(range(40), 4, 5)
        for draft in drafts(source, shop.templates, Counter())
        for images in draft.sets
    ]


def test_easy_distractors_are_drawn_from_all_images(made: Made) -> None:
    """Near ones are of some kind every time, any images seldom; nothing else about the sets is different."""
    shares = []
    for near in (True, False):
        found = distracting(made, near)
        near_ones = [{image for kind in source.kinds for image in source.images(kind)} for source, _ in found]
        inside = [image in own for own, (_, images) in zip(near_ones, found, strict=True) for image in images]
        assert len(found) > 50 and all(len(images) >= 2 for _, images in found)
        shares.append(sum(inside) / len(inside))
    assert shares[0] == 1 and shares[1] < 0.3


def linked(made: Made, tmp_path: Path) -> Run:
    run = Run(tmp_path / "run")
    run.folder.mkdir()
    (run.folder / "images").symlink_to(made.run.images)
    return run


def test_at_most_may_be_said_as_in_the_paper(made: Made, tmp_path: Path) -> None:
    """The same programs about the same images, in other words."""
    run, options = linked(made, tmp_path), DraftOptions(QUESTIONS, 3, made.words, at_most_as_paper=True)
    generate(run, options, workers=1)
    assert options_of(json.loads((run.covr / "report.json").read_text())["options"]) == options
    plain, paper = made.questions, with_programs(answered(run))
    assert plain.drop("question", "id").equals(paper.drop("question", "id"))
    said = plain["question"].str.replace(r"\b1 or 2 ", "at most 2 ").str.replace(r"between 1 and (\d) ", "at most $1 ")
    assert said.equals(paper["question"]) and not said.equals(plain["question"])
    grouped = paper.filter(pl.col("program").str.contains("keep_if_values_count_leq"))
    assert len(grouped) and grouped["question"].str.contains(r"show at most \d ").all()


def test_images_with_further_instances_are_not_used_for_a_reference(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the images are crowds: they may distract, but nothing that is counted is in them."""
    run, crowds = linked(made, tmp_path), set(made.ids[::2])
    code = f"CROWDS = {crowds}\n\n\ndef score(checks):\n    return [float(c[0] in CROWDS) for c in checks]\n"
    (tmp_path / "hidden.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    generate(run, DraftOptions(300, 3, made.words, verify_others="hidden:score"), workers=1)
    asked = with_programs(answered(run))
    for template in ("COUNT", "COMPARECOUNT"):
        here, seen = asked.filter(template=template), set[str]()
        for program, image in here.select("program", "images").explode("images").rows():
            node, judge = own.parse(program, IMAGES), Judge(made.scenes, attribute_groups(), [made.ids[image]])
            counted = [node] if template == "COUNT" else [part for part in node.args if isinstance(part, Node)]
            assert made.ids[image] not in crowds or [judge.value(part) for part in counted] == [0] * len(counted)
            seen.add(made.ids[image])
        assert len(here) > 5 and crowds & seen
