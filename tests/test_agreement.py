"""Precision and recall of relation facts against a clean truth, on worlds where they can be counted by hand."""

from questree.stages.agreement import AgreementScore, agreement
from questree.tables.facts import Facts
from questree.vocabulary import default
from worlds.small import facts

WORDS = default()


def score(ours: Facts, truth: Facts, group: str, given: bool = True) -> tuple[int, int, int, int]:
    found: AgreementScore = next(
        s for s in agreement(ours, truth, WORDS) if (s.group, s.given_by_actions) == (group, given)
    )
    return found.right, found.stated, found.found, found.true


TRUTH = """
    video A
    frames 0 1 2 3
    cup 0-3: in front of, touching
    """


def test_the_truth_agrees_with_itself() -> None:
    truth = facts(TRUTH)
    scores = agreement(truth, truth, WORDS)
    assert {s.precision for s in scores if s.stated} == {1.0} == {s.recall for s in scores if s.true}


def test_missing_and_wrong_facts_are_counted() -> None:
    ours = facts("video A\nframes 0 1 2 3\ncup 0-2: in front of\ncup 3: behind\ncup 0: touching")
    assert score(ours, facts(TRUTH), "spatial") == (3, 4, 3, 4)
    assert score(ours, facts(TRUTH), "contact") == (1, 1, 1, 4)
    assert score(ours, facts(TRUTH), "spatial and contact") == (4, 5, 4, 8)


def test_nothing_stated_has_no_precision() -> None:
    empty = facts("video A\nframes 0 1 2 3")
    verdict = next(s for s in agreement(empty, facts(TRUTH), WORDS) if s.group == "spatial")
    assert (verdict.precision, verdict.recall) == (None, 0.0)


def test_entailed_facts_are_not_counted() -> None:
    truth = facts("video A\nframes 0 1\ncup 0-1: carrying, holding, touching")
    ours = facts("video A\nframes 0 1\ncup 0: carrying\ncup 1: holding, touching")
    assert score(ours, truth, "contact") == (2, 2, 1, 2)  # holding on frame 1 is right, but carrying is not found


def test_what_an_annotation_entails_counts_as_found() -> None:
    truth = facts("video A\nframes 0\ncup 0: touching")
    ours = facts("video A\nframes 0\ncup 0: holding")
    assert score(ours, truth, "contact") == (0, 1, 1, 1)


def test_names_are_merged_before_comparing() -> None:
    truth = facts("video A\nframes 0\nsandwich 0: in front of")
    ours = facts("video A\nframes 0\nfood 0: in front of")
    assert score(ours, truth, "spatial") == (1, 1, 1, 1)


def test_other_relationship_is_neither_right_nor_wrong() -> None:
    ours = facts("video A\nframes 0 1 2 3\ncup 0: other relationship")
    assert score(ours, facts(TRUTH), "contact") == (0, 0, 0, 4)


def test_frames_are_matched_by_video_and_number() -> None:
    truth = facts("video B\nframes 0\nvideo A\nframes 0 1 2\ncup 2: in front of")
    ours = facts("video A\nframes 2\ncup 0: in front of")
    assert score(ours, truth, "spatial") == (1, 1, 1, 1)


def test_facts_given_by_an_action_can_be_left_out() -> None:
    truth = facts("video A\nframes 0 1\ncup 0-1: holding, touching\naction c107 0 0")
    ours = facts("video A\nframes 0 1\ncup 0: holding\naction c107 0 0")
    assert score(ours, truth, "contact") == (1, 1, 1, 2)
    assert score(ours, truth, "contact", given=False) == (0, 0, 0, 1)


def test_verbs_are_judged_by_the_actions_of_the_truth() -> None:
    truth = facts("video A\nframes 0 1\naction c110 0 1")
    ours = facts("video A\nframes 0 1\nbare dish 0: taking")
    assert score(ours, truth, "verb") == (1, 1, 1, 2)
