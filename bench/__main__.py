"""`make bench NAME=...`, also `python -m bench`: measure a stage, its size, rate and peak memory."""

import sys

from cyclopts import App

from questree.faults import BadInput, lines

BENCHMARKS = {  # name -> where in `bench` it lives and what it does
    "synth": ("stages:synth", "Make a synthetic corpus."),
    "frames": ("stages:frames", "Draw the frames of a synthetic corpus."),
    "augment": ("stages:augment", "Clean a synthetic corpus."),
    "generate": ("stages:generate", "Generate the questions of a synthetic corpus."),
    "decompose": ("stages:decompose", "Take apart questions of a synthetic corpus."),
    "balance": ("stages:balance", "Balance copies of the questions of a synthetic corpus."),
    "split": ("stages:split", "Split the questions of a synthetic corpus."),
    "audit": ("stages:audit", "Audit the questions of a synthetic corpus."),
    "score": ("stages:score", "Score made-up hierarchies."),
    "read": ("stages:read", "Read made-up short answers."),
    "fpvg": ("stages:fpvg", "Score grounding from files."),
    "answer": ("stages:answer", "Answer a run with a bot and score its answers."),
    "ask": ("ask:ask", "Ask a stub of a server, with or without pictures."),
    "rewards": ("stages:rewards", "Reward answers to the questions of a synthetic corpus, in batches."),
    "cluster": ("cluster:cluster", "Generate to scores, by processes and by a local Dask cluster."),
    "covr-index": ("covr:covr_index", "Search the index of images."),
    "covr": ("covr:covr", "Run programs over sets of synthetic images."),
    "questions": ("tables:questions", "Read the selected questions of a synthetic corpus as a table in words."),
    "storage": ("storage:storage", "Make a run at a URL: requests, bytes moved."),
    "people": ("people:people", "Answer a large task on its page, on servers that are killed."),
    "monster": ("monster:monster", "Make a benchmark of dense videos: how memory grows with questions."),
    "page": ("page:page", "Ask a served run for its pages, many clients at once."),
    "files": ("files:files", "Score and run released files with whole commands, their start included."),
}

app = App(name="bench", help="Measure a stage: size, rate, peak memory.", help_format="plaintext")
for name, (place, text) in BENCHMARKS.items():
    app.command(f"bench.{place}", name=name, help=text)


if __name__ == "__main__":
    try:
        app()
    except BadInput as bad:
        sys.exit("\n".join(f"error: {line}" for line in lines(bad.faults)))
