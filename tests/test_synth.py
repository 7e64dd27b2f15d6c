"""The made-up world of home videos: what is true in it, what its files look like, and what the noise does."""

import csv
import io
import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from cyclopts import CycloptsError

from questree.cli.synth import app
from questree.faults import BadInput
from questree.synth import world
from questree.synth.files import END, class_files, csv_line, memo, object_entries, person_entries
from questree.synth.habits import Role, habits
from questree.synth.scripts import Span, lay_chain, squeeze
from questree.synth.stage import at_head, over_union
from questree.synth.survey import closeness, features, richness
from questree.synth.video import Rates, SynthVideo, make_video, name, name_the_closest, observe
from questree.synth.world import write_world

H = habits()
WORDS = H.words
VIDEOS = 300
NONE = Rates(0, 0, 0, 0, 0, 0)


@pytest.fixture(scope="module")
def truths() -> list[SynthVideo]:
    return [make_video(1, index) for index in range(VIDEOS)]


@pytest.fixture(scope="module")
def seen(truths: list[SynthVideo]) -> list[SynthVideo]:
    return [observe(video, Rates(), 1, index)[0] for index, video in enumerate(truths)]


def span(action: str, start: float, end: float) -> Span:
    return Span(WORDS.action_at[action], start, end)


def bits(*names: str) -> int:
    return H.mask(names)


def light_switched_on_and_off() -> SynthVideo:
    """Two frames, a light that is touched in the first, a table beside it that only stands there."""
    return SynthVideo(
        id="0ABCD",
        split="train",
        scene="Kitchen",
        subject="ANNA",
        length=10.0,
        rate="25",
        size=(480, 270),
        spans=(span("c104", 0.0, 4.0), span("c105", 3.0, 11.0)),
        numbers=np.array([0, 100]),
        objects=[WORDS.object_at["light"], WORDS.object_at["table"]],
        annotated=np.ones((2, 2), bool),
        visible=np.array([[True, True], [True, False]]),
        relations=np.array(
            [
                [bits("looking at", "beneath", "twisting", "holding", "touching"), bits("in front of")],
                [bits("not looking at", "beneath", "not contacting"), 0],
            ]
        ),
        boxes=np.array([[[1.0, 2.0, 11.0, 22.0], [5.0, 6.0, 7.0, 9.0]]] * 2),
        person=np.array([[100.0, 50.0, 200.0, 250.0]] * 2),
        detected=np.array([True, False]),
    )


# ---------------------------------------------------------------- the script


def test_spans_are_moved_first_and_shrunk_only_without_room() -> None:
    moved, shrunk = [Span(0, 8, 12)], [Span(0, 8, 12), Span(1, 10, 16)]
    squeeze(moved, 0, 10)
    squeeze(shrunk, 0, 4)
    assert [(s.start, s.end) for s in moved] == [(6, 10)]
    assert [(s.start, s.end) for s in shrunk] == [(0, 2), (1, 4)]


def test_what_is_held_is_taken_before_and_put_after() -> None:
    take, hold, drink, put = (span(a, 5, 11) for a in ("c110", "c107", "c106", "c109"))
    lay_chain([take, hold, drink, put], 30, H)
    assert [(s.start, s.end) for s in (take, hold, drink, put)] == [(0, 6), (6.2, 10.8), (6.2, 10.8), (11, 17)]


def test_without_taking_or_putting_things_are_held_all_along() -> None:
    hold, drink = span("c107", 5, 11), span("c106", 6, 9)
    lay_chain([hold, drink], 30, H)
    assert [(s.start, s.end) for s in (hold, drink)] == [(0, 30), (6, 9)]


def test_a_thing_is_taken_again_only_after_it_was_put() -> None:
    takes, put = [span("c110", 2, 7), span("c110", 3, 8)], span("c109", 20, 29)
    lay_chain([*takes, put], 30, H)
    first, second = takes
    assert first.end < put.start < put.end < second.start < second.end <= 30


def by_family(video: SynthVideo, *wanted: Role) -> dict[int, dict[Role, list[Span]]]:
    found: dict[int, dict[Role, list[Span]]] = {}
    for s in video.spans:
        if H.role[s.action] in wanted:
            found.setdefault(H.family[s.action], {role: [] for role in wanted})[H.role[s.action]].append(s)
    return found


def test_taking_ends_before_holding_and_holding_before_putting(truths: list[SynthVideo]) -> None:
    checked = 0
    for video in truths:
        for chain in by_family(video, Role.TAKE, Role.HOLD, Role.PUT).values():
            for hold in chain[Role.HOLD]:
                assert all(t.end < hold.start or t.start >= hold.end for t in chain[Role.TAKE])
                assert all(hold.end < put.start for put in chain[Role.PUT])
                checked += len(chain[Role.TAKE]) + len(chain[Role.PUT])
    assert checked > 100


def test_what_is_held_mid_video_was_taken_right_before(truths: list[SynthVideo]) -> None:
    takable = {H.family[a] for a, role in enumerate(H.role) if role == Role.TAKE}
    begun = [
        (hold, chain[Role.TAKE])
        for video in truths
        for family, chain in by_family(video, Role.TAKE, Role.HOLD).items()
        if family in takable
        for hold in chain[Role.HOLD]
        if hold.start > 0
    ]
    assert len(begun) > 50
    assert all(any(0 < hold.start - take.end < 0.5 for take in takes) for hold, takes in begun)


def test_actions_have_annotated_frames_five_at_most_each(truths: list[SynthVideo]) -> None:
    for video in truths:
        assert (np.diff(video.numbers) > 0).all()
        assert (video.seconds <= video.length).all()
        assert len(video.numbers) <= 5 * len(video.spans)
        for s in video.spans:
            assert ((video.seconds >= s.start) & (video.seconds <= s.end)).any()


def test_instances_of_one_action_do_not_overlap(truths: list[SynthVideo]) -> None:
    for video in truths:
        ordered = sorted(video.spans, key=lambda s: (s.action, s.start))
        assert all(a.end <= b.start for a, b in pairwise(ordered) if a.action == b.action)


# ---------------------------------------------------------------- what is true in a frame


def held(video: SynthVideo) -> Iterator[tuple[Span, Any, int]]:
    """Every action with an object: the span, its frames, the column of its object."""
    for s in video.spans:
        noun = int(WORDS.noun_of[s.action])
        if noun in video.objects:
            yield s, (video.seconds >= s.start) & (video.seconds <= s.end), video.objects.index(noun)


def test_an_action_shows_in_the_contacts_of_its_object(truths: list[SynthVideo]) -> None:
    for video in truths:
        for s, now, column in held(video):
            verb = int(WORDS.verb_of[s.action])
            done_to = WORDS.relations[verb].group == "contact" and WORDS.actions[s.action].role == "done to"
            wanted = H.implied[verb] | (1 << verb if done_to else 0)
            assert (video.relations[now, column] & wanted == wanted).all(), WORDS.actions[s.action].phrase


def test_what_follows_from_a_contact_holds_as_well(truths: list[SynthVideo]) -> None:
    apart = H.mask(WORDS.lists.not_touching_contacts)
    for video in truths:
        for at in (k for k, implied in enumerate(H.implied) if implied and WORDS.relations[k].group == "contact"):
            there = video.relations[(video.relations >> at & 1) == 1]
            assert (there & H.implied[at] == H.implied[at]).all()
            assert not (there & apart).any()


def test_above_and_beneath_follow_from_the_boxes(truths: list[SynthVideo]) -> None:
    counts = Counter[str]()
    for video in truths:
        high = at_head(video.boxes, video.person[:, None])
        for label, wanted in (("beneath", high), ("above", ~high)):
            there = (video.relations & H.bit(label)) != 0
            assert wanted[there].all()
            counts[label] += int(there.sum())
    assert min(counts["above"], counts["beneath"]) > 500


def test_what_is_worn_stays_with_the_person(truths: list[SynthVideo]) -> None:
    """But for two worn things that would hide each other."""
    aside, worn = 0, 0
    for video in truths:
        middle, half = (
            (video.person[:, :1] + video.person[:, 2:3]) / 2,
            (video.person[:, 2:3] - video.person[:, :1]) / 2,
        )
        on_body = ((video.relations & H.on_body) != 0) & ((video.relations & H.bit("holding")) == 0) & video.visible
        away = np.abs((video.boxes[..., 0] + video.boxes[..., 2]) / 2 - middle) > half + 1
        aside, worn = aside + int((away & on_body).sum()), worn + int(on_body.sum())
    assert worn > 100 and aside < 0.02 * worn


def test_boxes_lie_in_the_picture_and_things_can_be_told_apart(truths: list[SynthVideo]) -> None:
    for video in (v for v in truths if v.boxes.size):
        for boxes in (video.boxes, video.person):
            assert (boxes[..., :2] >= 0).all()
            assert (boxes[..., 2:] <= np.array(video.size)).all()
            assert (boxes[..., :2] < boxes[..., 2:]).all()
        pairs = over_union(video.boxes[:, :, None], video.boxes[:, None]) * ~np.eye(len(video.objects), dtype=bool)
        assert pairs.max() < 0.5


def test_hidden_things_have_no_relations_and_used_things_are_not_hidden(truths: list[SynthVideo]) -> None:
    hidden = 0
    for video in truths:
        hidden += int((~video.visible).sum())
        assert not video.relations[~video.visible].any()
        assert all(video.visible[now, column].all() for _, now, column in held(video))
    assert hidden > 0


def test_every_object_class_and_most_actions_occur(truths: list[SynthVideo]) -> None:
    objects = {WORDS.objects[o].name for video in truths for o in video.objects}
    assert objects == {word.name for word in WORDS.objects if not word.part_only} - {"person"}
    assert len({s.action for video in truths for s in video.spans}) > 130


# ---------------------------------------------------------------- features and statistics


def test_every_feature_is_shown_by_one_video_in_a_hundred(truths: list[SynthVideo]) -> None:
    shown = [features(video) for video in truths]
    times = {feature: sum(each[feature] for each in shown) for feature in shown[0]}
    assert {feature: number for feature, number in times.items() if number < VIDEOS / 100} == {}


def test_features_are_read_off_a_video() -> None:
    assert {feature for feature, there in features(light_switched_on_and_off()).items() if there} == {
        "overlapping actions",
        "two actions with one verb and object",
        "an object with only spatial relations",
        "not contacting",
        "a relation lasting to the last frame",
        "an action on the first frame",
        "an action on the last frame",
    }


def test_richness_leaves_out_what_follows_and_attention() -> None:
    """Tracks: turning and beneath and twisting (light), in front of (table)."""
    assert richness(light_switched_on_and_off()) == Counter(
        frames=2, actions=2, objects=2, relations=4, tracks=4, entries=4
    )


def test_the_world_is_near_the_statistics(truths: list[SynthVideo]) -> None:
    rows = np.array([(v, s.action, s.start, s.end) for v, video in enumerate(truths) for s in video.spans])
    near = closeness(np.array([video.length for video in truths]), rows)
    assert near["rank correlation of action frequencies"] > 0.9
    assert near["rank correlation of listed pairs"] > 0.5
    assert near["actions per video"] == pytest.approx(1, abs=0.1)
    assert near["length, 50 % quantile"] == pytest.approx(1, abs=0.1)
    assert near["length, 95 % quantile"] == pytest.approx(1, abs=0.1)
    assert near["duration, 50 % quantile"] == pytest.approx(1, abs=0.2)
    assert near["relative start, distance of medians"] < 0.15
    train = sum(video.split == "train" for video in truths) / VIDEOS
    assert train == pytest.approx(0.81, abs=0.05)


def test_videos_are_as_rich_as_questions_need(truths: list[SynthVideo]) -> None:
    total = sum((richness(video) for video in truths), Counter[str]())
    mean = {what: count / VIDEOS for what, count in total.items()}
    assert 26 < mean["frames"] < 36
    assert 6 < mean["actions"] < 8
    assert 6 < mean["objects"] < 8
    assert 9 < mean["relations"] < 13
    assert 16 < mean["tracks"] < 24
    assert {video.rate for video in truths} == {"24", "25", "29.97", "30"}


# ---------------------------------------------------------------- noise


def test_noise_comes_at_the_rates_asked_for(truths: list[SynthVideo]) -> None:
    counts = sum((observe(v, Rates(), 1, i)[1] for i, v in enumerate(truths)), Counter[str]())
    for kind, rate, margin in [
        ("missing relations", 0.25, 0.01),
        ("overlapping stamps", 0.10, 0.05),
        ("double labels", 0.05, 0.02),
        ("flipped heights", 0.05, 0.01),
        ("missing takes", 0.10, 0.06),
        ("unasked objects", 0.92, 0.02),
    ]:
        assert counts[kind] / counts[f"{kind} of"] == pytest.approx(rate, abs=margin), kind


def test_in_three_videos_of_ten_annotators_leave_out_many_places(truths: list[SynthVideo]) -> None:
    shares = []
    for index, video in enumerate(truths):
        counts = observe(video, Rates(), 1, index)[1]
        if counts["unasked places of"] >= 20:
            shares.append(counts["unasked places"] / counts["unasked places of"])
    hurried = [share for share in shares if share]
    assert len(hurried) / len(shares) == pytest.approx(0.3, abs=0.05)
    assert np.mean(hurried) == pytest.approx(0.4, abs=0.05)


def test_without_noise_annotators_still_name_only_the_closest_contact() -> None:
    video = light_switched_on_and_off()
    seen, counts = observe(video, NONE, 1, 0)
    assert seen.relations.tolist() == [
        [bits("looking at", "beneath", "twisting"), bits("in front of")],
        [bits("not looking at", "beneath", "not contacting"), 0],
    ]
    assert [(s.action, s.start, s.end) for s in seen.spans] == [(s.action, s.start, s.end) for s in video.spans]
    assert counts["missing relations of"] == 7
    assert counts["missing relations"] == counts["flipped heights"] == 0


def test_what_is_seen_is_true_but_for_flips_and_double_labels(truths: list[SynthVideo]) -> None:
    for index, video in enumerate(truths[:100]):
        seen, _ = observe(video, replace(Rates(), flipped_heights=0, double_labels=0), 1, index)
        assert not (seen.relations & ~name_the_closest(video.relations, H)).any()


def test_flipping_everything_turns_above_into_beneath() -> None:
    seen, counts = observe(light_switched_on_and_off(), replace(NONE, flipped_heights=1), 1, 0)
    assert seen.relations[:, 0].tolist() == [
        bits("looking at", "above", "twisting"),
        bits("not looking at", "above", "not contacting"),
    ]
    assert counts["flipped heights"] == counts["flipped heights of"] == 2


def test_a_missing_take_leaves_a_holding_that_begins_mid_video() -> None:
    spans = (span("c110", 5, 10), span("c107", 10.2, 20), span("c109", 20.2, 25))
    seen, counts = observe(replace(light_switched_on_and_off(), spans=spans), replace(NONE, missing_takes=1), 1, 0)
    assert [(s.action, s.start, s.end) for s in seen.spans] == [(s.action, s.start, s.end) for s in spans[1:]]
    assert (counts["missing takes"], counts["missing takes of"]) == (1, 1)


def test_overlapping_stamps_keep_their_order() -> None:
    spans = (span("c110", 5, 10), span("c107", 10.2, 20), span("c109", 20.2, 25))
    video = replace(light_switched_on_and_off(), spans=spans)
    for index in range(20):
        take, hold, put = observe(video, replace(NONE, overlapping_stamps=1), 1, index)[0].spans
        assert take.start < hold.start < take.end < hold.end
        assert hold.start < put.start < hold.end < put.end
    assert [(s.start, s.end) for s in spans] == [(5, 10), (10.2, 20), (20.2, 25)]  # the truth is left alone


def test_a_double_label_covers_fewer_frames_with_nearly_the_same_box(
    truths: list[SynthVideo], seen: list[SynthVideo]
) -> None:
    doubled = 0
    for true, noisy in zip(truths, seen, strict=True):
        for column in range(len(true.objects), len(noisy.objects)):
            there = noisy.annotated[:, column]
            boxes = noisy.boxes[there]
            pairs = over_union(boxes[:, column, None], boxes[:, : len(true.objects)])  # [frame, true object]
            first = int(pairs.min(0).argmax())
            assert pairs[:, first].min() >= 0.5
            assert noisy.objects[column] in H.similar[noisy.objects[first]]
            assert 2 <= there.sum() < noisy.visible[:, first].sum()
            assert (noisy.relations[there, column] == noisy.relations[there, first]).all()
            doubled += 1
    assert doubled > 20


def test_one_rate_does_not_change_the_other_faults(truths: list[SynthVideo]) -> None:
    for index, video in enumerate(truths[:50]):
        few, many = (observe(video, replace(Rates(), missing_takes=r), 1, index)[0] for r in (0, 1))
        assert (few.relations == many.relations).all()
        assert few.objects == many.objects


# ---------------------------------------------------------------- files


def unpickled(entries: bytes) -> dict[str, Any]:
    found: dict[str, Any] = pickle.loads(memo().head + b"}" + entries + END)
    return found


def test_objects_are_written_as_in_the_released_pickle() -> None:
    seen = observe(light_switched_on_and_off(), NONE, 1, 0)[0]

    def entry(label: str, frame: str, box: Any, attention: Any, spatial: Any, contact: Any) -> dict[str, Any]:
        return {
            "class": label,
            "bbox": box,
            "attention_relationship": attention,
            "spatial_relationship": spatial,
            "contacting_relationship": contact,
            "visible": box is not None,
            "metadata": {"tag": f"0ABCD.mp4/{label}/{frame}", "set": "train"},
        }

    light, table = (1.0, 2.0, 10.0, 20.0), (5.0, 6.0, 2.0, 3.0)
    assert unpickled(object_entries(seen)) == {
        "0ABCD.mp4/000000.png": [
            entry("light", "000000", light, ["looking_at"], ["beneath"], ["twisting"]),
            entry("table", "000000", table, None, ["in_front_of"], None),
        ],
        "0ABCD.mp4/000100.png": [
            entry("light", "000100", light, ["not_looking_at"], ["beneath"], ["not_contacting"]),
            entry("table", "000100", None, None, None, None),
        ],
    }


def test_persons_are_written_as_in_the_released_pickle() -> None:
    found = unpickled(person_entries(light_switched_on_and_off()))
    first, second = found["0ABCD.mp4/000000.png"], found["0ABCD.mp4/000100.png"]
    assert first["bbox"].tolist() == [[100, 50, 200, 250]]
    assert first["bbox"].dtype == first["bbox_score"].dtype == np.float32
    assert first["bbox_score"].shape == (1,)
    assert (first["bbox_size"], first["bbox_mode"], first["keypoints"]) == ((480, 270), "xyxy", None)
    assert second["bbox"].shape == (0, 4)
    assert second["bbox_score"].shape == (0,)


def test_repeated_words_are_stored_once() -> None:
    """As many lists as there are annotations, but one string for all of a kind: what keeps reading them cheap."""
    entries = unpickled(object_entries(light_switched_on_and_off()))
    (light, _), (again, _) = entries.values()
    assert light["class"] is again["class"]
    assert [a is b for a, b in zip(light, again, strict=True)] == [True] * 7


def test_frames_without_objects_are_empty_lists() -> None:
    video = light_switched_on_and_off()
    bare = replace(
        video,
        objects=[],
        annotated=video.annotated[:, :0],
        visible=video.visible[:, :0],
        relations=video.relations[:, :0],
        boxes=video.boxes[:, :0],
    )
    assert unpickled(object_entries(bare)) == {"0ABCD.mp4/000000.png": [], "0ABCD.mp4/000100.png": []}


def test_a_line_of_the_table_has_all_columns() -> None:
    (row,) = csv.reader(io.StringIO(csv_line(light_switched_on_and_off())))
    assert row[:3] == ["0ABCD", "ANNA", "Kitchen"]
    assert row[7] == "light;table"
    assert row[9:] == ["c104 0.00 4.00;c105 3.00 11.00", "10.00"]
    assert len(row) == 11


def test_class_names_have_nothing_between_the_words() -> None:
    objects, relations = (class_files()[f"{kind}_classes.txt"].split() for kind in ("object", "relationship"))
    assert (len(objects), len(relations)) == (36, 26)
    assert [objects[k] for k in (0, 8, 10, 35)] == ["person", "closetcabinet", "cupglassbottle", "window"]
    assert [relations[k] for k in (0, 5, 13, 25)] == ["lookingat", "infrontof", "haveitontheback", "writingon"]


def test_names_are_different_for_every_video() -> None:
    names = {name(1, index) for index in range(20000)}
    assert len(names) == 20000
    assert {len(n) for n in names} == {5}


def content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.processes
def test_the_files_do_not_depend_on_the_number_of_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world, "ALONE", 10)
    one = write_world(tmp_path / "one", 40, 3, Rates(), workers=1)
    two = write_world(tmp_path / "two", 40, 3, Rates(), workers=2)
    assert one == two
    assert content(tmp_path / "one") == content(tmp_path / "two")
    other = write_world(tmp_path / "other", 40, 4, Rates(), workers=1)
    assert other["noise"]["counts"] != one["noise"]["counts"]


def test_the_truth_does_not_depend_on_the_noise(tmp_path: Path) -> None:
    write_world(tmp_path / "noisy", 20, 1, Rates())
    write_world(tmp_path / "clean", 20, 1, NONE)
    noisy, clean = content(tmp_path / "noisy"), content(tmp_path / "clean")
    truth = [path for path in noisy if path.startswith("truth")]
    assert {Path(path).name for path in truth} == {path for path in noisy if path not in truth} - {"noise.json"}
    assert all(noisy[path] == clean[path] for path in truth)
    assert noisy["object_bbox_and_relationship.pkl"] != clean["object_bbox_and_relationship.pkl"]


def test_files_agree_with_each_other_and_with_the_counts(tmp_path: Path) -> None:
    made = write_world(tmp_path / "w", 60, 1, Rates())
    rows = [r for s in ("train", "test") for r in csv.DictReader((tmp_path / "w" / f"Charades_v1_{s}.csv").open())]
    rates = dict(line.split(",") for line in (tmp_path / "w" / "frame_rates.csv").read_text().split()[1:])
    objects, persons = (
        pickle.loads((tmp_path / "w" / f).read_bytes()) for f in ("object_bbox_and_relationship.pkl", "person_bbox.pkl")
    )
    assert len(rows) == len(rates) == 60
    assert objects.keys() == persons.keys()
    assert {key.split(".")[0] for key in objects} == {row["id"] for row in rows if row["actions"]}
    length = {row["id"]: float(row["length"]) for row in rows}
    for key in objects:
        video, number = key[:5], int(key[10:16])
        assert number / float(rates[video]) <= length[video]
    groups = ("attention_relationship", "spatial_relationship", "contacting_relationship")
    listed = sum(len(entry[g] or ()) for entries in objects.values() for entry in entries for g in groups)
    noise = msgspec.json.decode((tmp_path / "w" / "noise.json").read_bytes())
    assert noise == made["noise"]
    missing = noise["counts"]["missing relations"]
    assert listed >= missing["of"] - missing["changed"]  # double labels add copies
    single = write_world(tmp_path / "s", 60, 1, replace(Rates(), double_labels=0))["noise"]["counts"]
    objects = pickle.loads((tmp_path / "s" / "object_bbox_and_relationship.pkl").read_bytes())
    listed = sum(len(entry[g] or ()) for entries in objects.values() for entry in entries for g in groups)
    assert listed == single["missing relations"]["of"] - single["missing relations"]["changed"]


# ---------------------------------------------------------------- the command


def test_all_bad_options_are_named_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as bad:
        write_world(tmp_path / "w", 0, -1, replace(Rates(), missing_takes=1.5, double_labels=float("nan")), 0)
    assert [fault.place for fault in bad.value.faults] == [
        "--videos",
        "--seed",
        "--workers",
        "--double-labels",
        "--missing-takes",
    ]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_other_files_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(BadInput, match="not a synthetic world"):
        write_world(tmp_path, 1, 1, Rates())
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_the_command_writes_a_world_and_tells_about_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):  # an earlier world is replaced
        app(
            ["--videos", "12", "--out", str(tmp_path / "w"), "--json", str(tmp_path / "made.json")],
            result_action="return_value",
        )
    told = capsys.readouterr().out
    assert "12 videos" in told
    assert "an action without object" in told
    made = msgspec.json.decode((tmp_path / "made.json").read_bytes())
    assert made["videos"] == 12
    assert (tmp_path / "w" / "truth" / "person_bbox.pkl").is_file()


def test_quiet_prints_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app(["--videos", "2", "--out", str(tmp_path / "w"), "--quiet"], result_action="return_value")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("words", [["--videos"], ["--seed"], ["--workers"], ["images", "--images"]])
def test_half_a_video_is_refused_and_not_rounded(tmp_path: Path, words: list[str]) -> None:
    with pytest.raises(CycloptsError, match=f"{words[-1]}: expected a whole number, got '1.5'"):
        app([*words, "1.5", "--out", str(tmp_path / "w")], exit_on_error=False, print_error=False)
    assert not (tmp_path / "w").exists()
