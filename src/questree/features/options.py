"""What features depend on beside the facts or pictures they are made from; all bad values are told at once."""

from dataclasses import dataclass

from questree.faults import Fault, at_least, refuse
from questree.features.rows import SIDES


@dataclass(frozen=True)
class FeatureOptions:
    width: int = 128  # numbers per frame, clip or object
    frames: int = 32  # of a video, evenly
    clips: int = 8  # of a video
    object_frames: int = 8  # of a video, whose objects are shown
    objects: int = 36  # most per frame or image
    noise: float = 0.0  # added to every number, in units of what a word adds
    miss: float = 0.0  # probability that an object is not seen
    confuse: float = 0.0  # probability that an object, a relation, an attribute or an action is taken for another
    detections: bool = False  # objects are boxes of a made-up detector
    jitter: float = 0.0  # of its boxes: each side is moved by so much of the box's size
    spurious: int = 0  # boxes per frame or image where there is nothing
    seed: int = 1

    def faults(self) -> list[Fault]:
        sizes = {"frames": self.frames, "clips": self.clips, "object_frames": self.object_frames}
        shares = {"miss": self.miss, "confuse": self.confuse}
        found = [*at_least(1, sizes | {"objects": self.objects}), *at_least(2 * SIDES, {"width": self.width})]
        found += at_least(0, {"noise": self.noise, "jitter": self.jitter, "spurious": self.spurious, **shares})
        found += [
            Fault(f"--{name}", f"expected a share of at most 1, got {value:g}")
            for name, value in shares.items()
            if value > 1
        ]
        if (self.jitter or self.spurious) and not self.detections:
            found.append(Fault("--detections", "expected it with --jitter and --spurious, got those alone"))
        return found

    def check(self) -> None:
        refuse(self.faults())
