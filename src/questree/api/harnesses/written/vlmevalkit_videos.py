"""Questions about videos as a dataset of VLMEvalKit; written by `questree export vlmevalkit`. Options are those of its
own `run`: `python questree_videos.py --data questree --model NAME ...`."""

import json
import os
import re
from pathlib import Path

from vlmeval.dataset.video_base import VideoBaseDataset
from vlmeval.dataset.video_dataset_config import supported_video_datasets
from vlmeval.smp import load

HERE = Path(__file__).resolve().parent
SETTINGS = json.loads((HERE / "settings.json").read_text("utf-8"))
MEDIA = Path(os.environ.get("QUESTREE_MEDIA") or SETTINGS["media"])


class QuestreeVideos(VideoBaseDataset):
    TYPE = "Video-VQA"

    @classmethod
    def supported_datasets(cls):
        return ["questree"]

    def prepare_dataset(self, dataset):
        return {"root": str(MEDIA), "data_file": str(HERE / "questree.tsv")}

    def build_prompt(self, line, video_llm=False):
        line = self.data.iloc[line] if isinstance(line, int) else line
        paths = [MEDIA / name for name in json.loads(line["frames"])]
        seen = [{"type": "video" if path.suffix == ".mp4" else "image", "value": str(path)} for path in paths]
        if any(each["type"] == "video" for each in seen) and not video_llm:
            video = paths[0].relative_to(MEDIA).with_suffix("").as_posix()  # ids of digits come as numbers
            seen = [{"type": "image", "value": path} for path in self.save_video_frames(video)]
        return [*seen, {"type": "text", "value": line["question"]}]

    @classmethod
    def evaluate(cls, eval_file, **judge_kwargs):
        """Accuracy, words compared as they stand; what has no answer is left out."""
        table = load(eval_file)
        known = table[table["answer"].notna()]
        right = [plain(a) == plain(b) for a, b in zip(known["prediction"], known["answer"], strict=True)]
        return {"accuracy": sum(right) / len(right) if right else float("nan"), "questions": len(right)}


def plain(text):
    """As words are compared here, without thoughts; `questree score --policy lenient` reads sentences."""
    said = re.sub(r"<think>.*?</think>", "", str(text), flags=re.DOTALL)
    return re.sub(r"^(the|an|a) ", "", re.sub(r"[^\w\s]", "", said).strip().lower())


def build(**options):
    return QuestreeVideos(dataset="questree", nframe=SETTINGS["frames"])


supported_video_datasets["questree"] = build

if __name__ == "__main__":
    from vlmeval.run import main

    main()
