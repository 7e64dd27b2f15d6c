"""The networks: sizes of the papers, masks and gradients checked by hand, eyes that matter."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from questree.networks.catalogue import SHIPPED, STREAMS, Inputs, network
from worlds.seen_rooms import Rooms
from worlds.seen_sets import THINGS, SeenSets

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-models` installs it")
from worlds.taught import looks_and_is_lost_without  # noqa: E402

SEEING = [name for name in SHIPPED if name != "lstm"]


def built(name: str, size: str = "small", words: int = 20, answers: int = 5, width: int = 8) -> Any:
    own = network(name)
    streams = own.streams if size == "paper" else dict.fromkeys(own.streams, width)
    return own.build(Inputs([f"word{at}" for at in range(words)], answers, streams), **own.sizes[size].widths)


@pytest.mark.parametrize(
    ("name", "few", "many"),
    [  # with 250 words and 171 answers, with 8,000 and 1,746
        ("hcrn", 41_452_452, 44_585_427),
        ("hme", 42_883_671, 47_629_446),
        ("psac", 26_323_118 + 250 * 300, 27_937_493 + 8_000 * 300),  # word vectors are not counted in its 26.3 M
        ("updn", 12_894_628, 18_446_803),
        ("lstm", 2_442_659, 6_382_034),
        ("transformer", 87_611_320, 94_774_495),
    ],
)
def test_networks_are_as_large_as_those_of_the_papers(name: str, few: int, many: int) -> None:
    with torch.device("meta"):
        sizes = [built(name, "paper", *known) for known in ((250, 171), (8_000, 1_746))]
    assert [sum(each.numel() for each in found.parameters()) for found in sizes] == [few, many]


@pytest.mark.parametrize("name", ["lstm", "updn"])
def test_a_step_at_the_size_of_the_paper(name: str) -> None:
    """Of the smaller ones: every matrix is moved."""
    from questree.networks.batches import QuestionBatch, Stream

    torch.manual_seed(0)
    found, given = built(name, "paper"), batch()
    seen = {
        stream: Stream(torch.randn(3, 6, width), given.streams[stream].there)
        for stream, width in network(name).streams.items()
    }
    torch.nn.functional.cross_entropy(found(QuestionBatch(given.words, seen)), torch.tensor([0, 1, 4])).backward()
    matrices = [each.grad for each in found.parameters() if each.ndim > 1]
    assert matrices and all(each is not None and 0 < each.abs().sum() < torch.inf for each in matrices)


def batch(padding: int = 0, rows: int = 3, width: int = 8, there: bool = True) -> Any:
    """Questions of 5, 4 and 2 words, scopes of 6, 6 and 4 items, then as much padding as one likes, not all zero."""
    from questree.networks.batches import QuestionBatch, Stream

    draw = torch.Generator().manual_seed(1)
    size, items = torch.tensor([5, 4, 2]), torch.tensor([6, 6, 4])
    words = torch.randint(2, 20, (3, 5), generator=draw)
    words = torch.nn.functional.pad(words * (torch.arange(5) < size[:, None]), (0, padding))
    seen = torch.cat([torch.randn(3, 6, width, generator=draw), torch.full((3, padding, width), 7.0)], 1)
    mask = (torch.arange(6 + padding) < items[:, None]) & there
    streams = {name: Stream(seen[:rows].clone().requires_grad_(), mask[:rows]) for name in STREAMS}
    return QuestionBatch(words[:rows], streams)


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_not_there_changes_nothing(name: str) -> None:
    torch.manual_seed(0)
    found = built(name).eval()
    plain, padded = found(batch()), found(batch(padding=3))
    assert plain.shape == (3, 5)
    torch.testing.assert_close(plain, padded)
    torch.testing.assert_close(found(batch(rows=2)), plain[:2])
    assert torch.isfinite(found(batch(there=False))).all()


@pytest.mark.parametrize("name", SEEING)
def test_only_what_is_there_gets_gradients(name: str) -> None:
    torch.manual_seed(0)
    found, given = built(name).eval(), batch(padding=2)
    found(given).sum().backward()
    for stream in network(name).streams:
        own, there = given.streams[stream].items.grad, given.streams[stream].there
        assert (own[~there] == 0).all()
        assert own[there].abs().sum() > 0
    still = {key for key, each in found.named_parameters() if each.grad is None}
    # relations of all objects, which HCRN has not; what the transformer points with if it is guided
    unused = {"hcrn": (".relate.0.", ".gate.0."), "transformer": ("point.",)}
    assert all(any(part in key for part in unused[name]) for key in still)
    assert bool(still) == (name in unused)


def test_shares_of_what_is_there() -> None:
    from questree.networks.layers import masked_softmax

    scores = torch.tensor([[0.0, np.log(3.0), 9.0], [1.0, 2.0, 3.0]], dtype=torch.float64)
    found = masked_softmax(scores, torch.tensor([[True, True, False], [False, False, False]]))
    torch.testing.assert_close(found, torch.tensor([[0.25, 0.75, 0.0], [0.0, 0.0, 0.0]], dtype=torch.float64))


def test_frames_are_taken_evenly() -> None:
    from questree.networks.batches import Stream, resampled

    items = torch.arange(6.0).reshape(1, 6, 1).expand(3, 6, 1)
    there = torch.tensor([[True] * 6, [True, True, True, False, False, False], [False] * 6])
    found = resampled(Stream(items, there), 4)[:, :, 0]
    assert found.tolist() == [[0, 1, 3, 4], [0, 0, 1, 2], [0, 0, 0, 0]]


def test_additive_attention_by_hand() -> None:
    """Scores tanh(1 - 1) = 0 and tanh(2 - 1): shares 1 / (1 + e^tanh 1) and the rest."""
    from questree.networks.layers import AdditiveAttention

    found = AdditiveAttention(1, 1, 1)
    for each, value in zip(found.parameters(), (1.0, -1.0, 0.0, 1.0), strict=True):
        each.data.fill_(value)
    items = torch.tensor([[[1.0], [2.0], [5.0]]])
    share = float(1 / (1 + np.exp(np.tanh(1.0))))
    seen = found(items, torch.tensor([[1.0]]), torch.tensor([[True, True, False]]))
    assert seen.item() == pytest.approx(share * 1 + (1 - share) * 2, rel=1e-6)


@pytest.mark.parametrize("gated", [False, True])
def test_conditional_relations_by_hand(gated: bool) -> None:
    """Of 4 objects: one subset of 3, one of 2; mean plus condition through ELU, times a sigmoid of it if gated."""
    from questree.networks.hcrn import ConditionalRelation

    unit = ConditionalRelation(4, 1, gated).eval()
    for each in unit.parameters():
        each.data.fill_(0.0 if each.dim() == 1 else 1.0)
    objects = torch.tensor([[[1.0], [2.0], [4.0], [8.0]]])
    found = unit(objects, torch.tensor([[-20.0]]))[0, :, 0].tolist()
    expected = []
    for size in (3, 2):
        mean = float(objects[0, unit.subset(size), 0].mean())
        value = float(np.exp(mean - 20) - 1)
        expected.append(value / (1 + np.exp(20 - mean)) if gated else value)
    assert found == pytest.approx(expected, rel=1e-4)
    assert [len(set(unit.subset(size).tolist())) for size in (3, 2)] == [3, 2]
    assert unit.subset(3).tolist() == unit.subset(3).tolist()  # always the same after training
    unit.train()
    assert len({tuple(unit.subset(2).tolist()) for _ in range(40)}) > 2


TAUGHT: dict[str, dict[str, Any]] = {
    "hcrn": {"epochs": 3, "rate": 2e-3},
    "hme": {"epochs": 3, "rate": 3e-3},
    "psac": {"epochs": 3, "rate": 3e-3},
    "updn": {"epochs": 4, "rate": 3e-3},
    "transformer": {"epochs": 3},
}


@pytest.mark.parametrize("name", SEEING)
def test_eyes_beat_none_and_features_of_others_are_as_good_as_none(name: str, tmp_path: Path) -> None:
    rooms = Rooms.of(220, 1)
    looks_and_is_lost_without(name, rooms, tmp_path, (110, 120), TAUGHT[name], 6)


IN_SETS: dict[str, dict[str, Any]] = {
    "updn": {"epochs": 5},
    "transformer": {"epochs": 8, "patience": 8},
}


@pytest.mark.parametrize("name", IN_SETS)
def test_networks_of_objects_look_at_sets_of_images(name: str, tmp_path: Path) -> None:
    """A colour and a name together, over two images: gates or attention must find the one thing that has both."""
    sets = SeenSets(tmp_path, 260, 1)
    looks_and_is_lost_without(name, sets, tmp_path, (160, 175), IN_SETS[name], len(THINGS))
