"""Questions and sub-questions of a run as a task of lmms-eval; written by `questree export lmms-eval`."""

import json
import os
import re
from pathlib import Path

SETTINGS = json.loads((Path(__file__).parent / "settings.json").read_text("utf-8"))
MEDIA = Path(os.environ.get("QUESTREE_MEDIA") or SETTINGS["media"])

FILMS = (".mp4", ".webm", ".mov")


def doc_to_visual(doc):
    """Pictures, or the path of a video."""
    from PIL import Image

    paths = [MEDIA / name for name in doc["media"]]
    return [str(path) if path.suffix in FILMS else Image.open(path).convert("RGB") for path in paths]


def doc_to_text(doc, lmms_eval_specific_kwargs=None):
    return doc["prompt"]


def process_results(doc, results):
    """The id stays with the answer: the log has nothing else to know it by. No truth, no score."""
    about = {"id": doc["id"], "cluster": doc["cluster"], "type": doc["type"]}
    known = doc["answer"] is not None
    return {"accuracy": {**about, "score": float(plain(results[0]) == plain(doc["answer"]))} if known else about}


def plain(text):
    """As words are compared here, without thoughts; `questree score --policy lenient` reads sentences."""
    said = re.sub(r"<think>.*?</think>", "", str(text), flags=re.DOTALL)
    return re.sub(r"^(the|an|a) ", "", re.sub(r"[^\w\s]", "", said).strip().lower())


def accuracy(results):
    scores = [each["score"] for each in results if "score" in each]
    return sum(scores) / len(scores) if scores else float("nan")
