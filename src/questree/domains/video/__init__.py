"""Videos: people doing things with objects, frame by frame."""

from questree.domains.video import actions, atoms, objects, time
from questree.domains.video.facts import Videos, videos
from questree.domains.video.kinds import VIDEO

__all__ = ["VIDEO", "Videos", "actions", "atoms", "objects", "time", "videos"]
