"""Generated questions in batches of one form, as decomposition takes them."""

from collections.abc import Iterator

from questree.program import Array
from questree.stages.decompose.expand import Batch
from questree.stages.decompose.forms import Forms
from questree.stages.questions import Shard


def batches(shard: Shard, forms: Forms, rows: Array) -> Iterator[Batch]:
    """The questions at these rows of a shard."""
    asked = shard.where(shard.questions[rows])
    for form, at in asked.by_form():
        node, origins = forms.canonical(form.node)
        yield Batch(
            node, asked.video[at], tuple(forms.column(origin, asked.words, len(at))[at] for origin in origins), at
        )
