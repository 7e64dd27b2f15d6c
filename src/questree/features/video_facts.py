"""Features of videos from their facts: what frames show, what is done during clips, objects with their relations."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from questree.columns.joins import ranges, starts
from questree.features.codes import Floats, Ints, chance, codes
from questree.features.detector import Detector, SeenBoxes
from questree.features.options import FeatureOptions
from questree.features.rows import APPEARANCE, DETECTIONS, MOTION, OBJECTS, SIDES, PlaceFeatures, StreamRows
from questree.features.seen import noisy, sides, summed, taken_for
from questree.stages.ground.boxes import CLASS, FRAME, spot, video_boxes
from questree.stages.ground.boxes import SIDES as CORNERS
from questree.tables.facts import Facts
from questree.vocabulary.words import Vocabulary

HALF = np.float32(0.5)  # what an action adds to a clip it is hardly in; all of a clip: 1


@dataclass(frozen=True)
class VideoFacts:
    """The facts of some videos, numbered from 0, as features."""

    facts: Facts
    vocabulary: Vocabulary
    options: FeatureOptions

    def made(self) -> PlaceFeatures:
        streams = {APPEARANCE: self.appearance(), MOTION: self.motion(), OBJECTS: self.objects()}
        video, frame, _ = self.placed
        start = starts(video, len(self.ids))
        if self.options.detections:
            streams[DETECTIONS] = StreamRows(self.seen.corner.astype(np.float32), start, frame)
        return PlaceFeatures(self.ids, streams, np.diff(start))

    @cached_property
    def ids(self) -> list[str]:
        return self.facts.videos["id"].to_list()

    @cached_property
    def frames(self) -> Ints:
        """[video] how many there are."""
        return np.diff(starts(self.facts.frames["video"].to_numpy(), len(self.ids)))

    @cached_property
    def relations(self) -> pl.DataFrame:
        """video, frame, relation, object; as they are seen, which is not always what they are."""
        rows = self.facts.relations
        place, item = rows["video"].to_numpy(), np.arange(len(rows))
        first = starts(place, len(self.ids))[place]
        draw = chance(self.options.seed, "relation", self.ids, place, item - first)
        relation = taken_for(rows["relation"].to_numpy(), draw, len(self.vocabulary.relations), self.options.confuse)
        return rows.with_columns(relation=pl.Series(relation))

    def appearance(self) -> StreamRows:
        """A frame sums its objects, its relations and which relation is to which object."""
        options, words = self.options, self.vocabulary
        video, sampled, start = self.sampled(options.frames)
        own = self.relations
        present = words.relation_at[words.annotated]
        pair = own["relation"].to_numpy().astype(np.int64) * len(words.objects) + own["object"].to_numpy()
        kinds, at = np.unique(pair, return_inverse=True)
        relation, object = np.divmod(kinds, len(words.objects))
        names = [
            f"relation {words.relations[r].id}, object {words.objects[o].id}"
            for r, o in zip(relation, object, strict=True)
        ]
        of_object = codes([f"object {word.id}" for word in words.objects], options.width)[object]
        of_relation = codes([f"relation {word.id}" for word in words.relations], options.width)[relation]
        whole = np.where((relation == present)[:, None], of_object, of_relation + codes(names, options.width))
        key = own["video"].to_numpy().astype(np.int64) << FRAME | own["frame"].to_numpy()
        wanted = video << FRAME | sampled
        row, fact = ranges(np.searchsorted(key, wanted), np.searchsorted(key, wanted, side="right"))
        return noisy(self.options, APPEARANCE, self.ids, summed(len(wanted), row, whole[at[fact]]), start)

    def motion(self) -> StreamRows:
        """A clip sums its actions, each by how much of the clip it takes."""
        options, words = self.options, self.vocabulary
        there = self.frames > 0
        start = np.append(0, np.cumsum(np.where(there, options.clips, 0)))
        own = self.facts.actions.drop_nulls(["first", "last"])
        video, first, last = (own[name].to_numpy().astype(np.int64) for name in ("video", "first", "last"))
        which = own["action"].to_numpy().astype(np.int64) << 16 | own["instance"].to_numpy()
        draw = chance(options.seed, "action", self.ids, video, which)
        action = taken_for(own["action"].to_numpy(), draw, len(words.actions), options.confuse)
        size = self.frames[video] / options.clips  # [action] frames per clip
        row, clip = ranges(
            (first / size).astype(np.int64), np.minimum((last / size).astype(np.int64) + 1, options.clips)
        )
        begin = clip * size[row]
        share = np.minimum(last[row] + 1, begin + size[row]) - np.maximum(first[row], begin)
        weight = HALF + HALF * np.clip(share / size[row], 0, 1).astype(np.float32)
        code = codes([f"action {word.id}" for word in words.actions], options.width)[action[row]]
        values = summed(int(start[-1]), start[video[row]] + clip, code * weight[:, None])
        return noisy(self.options, MOTION, self.ids, values, start)

    def sampled(self, count: int) -> tuple[Ints, Ints, Ints]:
        """Of every video so many frames: the middles of equal stretches, some of them again in short videos."""
        video = np.repeat(np.flatnonzero(self.frames), count)
        step = np.tile(np.arange(count), len(video) // count)
        frame = ((step + 0.5) * self.frames[video] / count).astype(np.int64)
        return video, frame, starts(video, len(self.ids))

    @cached_property
    def boxed(self) -> pl.DataFrame:
        """The boxes of persons and objects as `ground` counts them: video, frame, class, sides."""
        boxes, key = video_boxes(self.facts, self.vocabulary)
        view, object = key >> CLASS, key & ((1 << CLASS) - 1)
        video, frame = view >> FRAME, view & ((1 << FRAME) - 1)
        return boxes.table.select(CORNERS).with_columns(
            video=pl.Series(video), frame=pl.Series(frame), object=pl.Series(object)
        )

    @cached_property
    def seen(self) -> SeenBoxes:
        """These boxes of all frames, or what a detector finds of them; `thing` is a row of `boxed`."""
        video, frame = (self.boxed[name].to_numpy() for name in ("video", "frame"))
        place = np.repeat(np.arange(len(self.ids)), self.frames)  # [view]
        detector = Detector(self.options, self.ids, place, self.sizes[place])
        view = (np.cumsum(self.frames) - self.frames)[video] + frame
        known = detector.annotated(view, np.arange(len(view)), self.boxed.select(CORNERS).to_numpy())
        return detector.detected(known) if self.options.detections else known

    @cached_property
    def placed(self) -> tuple[Ints, Ints, Ints]:
        """[box of `seen`] its video, the position of its frame, and which of the video's boxes it is."""
        video = np.repeat(np.arange(len(self.ids)), self.frames)[self.seen.view]
        frame = self.seen.view - (np.cumsum(self.frames) - self.frames)[video]
        return video, frame, np.arange(len(video)) - starts(video, len(self.ids))[video]

    @cached_property
    def sizes(self) -> Ints:
        """[video] width, height"""
        return self.facts.videos.select(pl.col("width", "height").fill_null(1)).to_numpy().astype(np.float64)

    def objects(self) -> StreamRows:
        """An object sums its class and its relations; the person what is being done."""
        options, (video, frame, number) = self.options, self.placed
        sampled, at, _ = self.sampled(options.object_frames)
        kept = np.flatnonzero(self.seen.there & np.isin(video << FRAME | frame, sampled << FRAME | at))
        view = self.seen.view[kept]
        kept = kept[np.arange(len(kept)) - np.searchsorted(view, view) < options.objects]
        values = np.concatenate([self.things(kept), self.where(kept)], axis=1)
        return noisy(options, OBJECTS, self.ids, values, starts(video[kept], len(self.ids)), number[kept])

    def things(self, kept: Ints) -> Floats:
        """[object, width] without where it is; kept: rows of `seen`. What is nowhere looks like any class."""
        words, width = self.vocabulary, self.options.width - SIDES
        video, frame, _ = (own[kept] for own in self.placed)
        real, object = self.seen.thing[kept] >= 0, self._classes(kept)
        draw = chance(self.options.seed, "class", self.ids, video, frame << CLASS | object)
        called = taken_for(object, draw, len(words.objects), self.options.confuse)
        own = self.relations.sort("video", "frame", "object", "relation")
        key = spot(*(own[name].to_numpy().astype(np.int64) for name in ("video", "frame", "object")))
        wanted = np.where(real, spot(video, frame, object), -1)
        row, fact = ranges(np.searchsorted(key, wanted), np.searchsorted(key, wanted, side="right"))
        relation = codes([f"relation {word.id}" for word in words.relations], width)[own["relation"].to_numpy()[fact]]
        things = codes([f"object {word.id}" for word in words.objects], width)[called]
        persons = np.flatnonzero(real & (object == words.object_at[words.person]))
        values = things + summed(len(kept), row, relation)
        values[persons] += self._doing(video[persons], frame[persons], width)
        return values

    def _classes(self, kept: Ints) -> Ints:
        video, _, number = (own[kept] for own in self.placed)
        draw = chance(self.options.seed, "nothing", self.ids, video, number)
        wrong, thing = (draw * len(self.vocabulary.objects)).astype(np.int64), self.seen.thing[kept]
        return np.where(thing < 0, wrong, np.append(self.boxed["object"].to_numpy(), 0)[thing])

    def _doing(self, video: Ints, frame: Ints, width: int) -> Floats:
        """[row, width] the actions under way."""
        done = self.facts.actions.drop_nulls(["first", "last"])
        begin = starts(done["video"].to_numpy(), len(self.ids))
        row, action = ranges(begin[video], begin[video + 1])
        first, last = (done[name].to_numpy()[action] for name in ("first", "last"))
        now = np.flatnonzero((first <= frame[row]) & (frame[row] <= last))
        code = codes([f"action {word.id}" for word in self.vocabulary.actions], width)
        return summed(len(video), row[now], code[done["action"].to_numpy()[action[now]]])

    def where(self, kept: Ints) -> Floats:
        """[object, SIDES]"""
        video, frame, _ = (own[kept] for own in self.placed)
        corner = self.seen.corner[kept] / np.tile(self.sizes[video], 2)
        return sides(corner, (frame + 0.5) / self.frames[video])
