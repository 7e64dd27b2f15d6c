"""What each special list of a vocabulary does and what an empty one lets through: told by check, draft and docs."""

from typing import NamedTuple


class ListNote(NamedTuple):
    does: str
    empty: str  # what an empty one lets through


NOTES = {
    "single_object_verbs": ListNote(
        "verbs that go with one object only: not asked together with it, and no reference uses them",
        "a question may name the verb and so give its only object away",
    ),
    "transition_verbs": ListNote(
        "verbs of actions that are over in a moment (taking, opening): no question about their length",
        "momentary actions are compared by length",
    ),
    "transition_actions": ListNote(
        "single actions of that kind, by id",
        "momentary actions of other verbs are compared by length",
    ),
    "commonsense_pairs": ListNote(
        "(object, relation) that hold of anybody (floor, standing on): never asked",
        "questions are asked whose answer needs no video",
    ),
    "similar_objects": ListNote(
        "families of objects that are easily mistaken (bed, sofa): no answer no while another of the family is there",
        "an answer no may be about an object of which another annotator would have said that it is there",
    ),
    "forbidden_pairs": ListNote(
        "two objects that are never together in one question (door, doorway)",
        "a question may ask for one or the other of two that are nearly the same",
    ),
    "object_existence_ban": ListNote(
        "objects nobody is asked about whether they were interacted with (clothes, floor)",
        "it is asked of every object whether the person interacted with it",
    ),
    "relation_existence_ban": ListNote(
        "relations nobody is asked about whether they held with anything",
        "it is asked of every contact and verb whether it was done to anything",
    ),
    "relation_time_ban": ListNote(
        "relations not asked to be before or after an action: verbs that are also done without an object",
        "before-or-after questions count a verb only where it has an object",
    ),
    "obvious_relations": ListNote(
        "relations that hold of anybody (wearing, standing on): never asked to be verified",
        "questions are asked whose answer is nearly always yes",
    ),
    "never_asked_relations": ListNote(
        "relations that no question mentions (not contacting); they need no forms",
        "every relation but those of attention may be asked",
    ),
    "not_touching_contacts": ListNote(
        "contacts that are none (not contacting): no interaction, and they contradict the others",
        "every contact counts as interacting with the object",
    ),
    "never_localised_actions": ListNote(
        "actions, by id, that stand in no time phrase and whose object no reference replaces",
        "every action may stand in a time phrase",
    ),
    "always_there": ListNote(
        "objects that nearly every video shows: nobody can label them absent",
        "every object may be labelled absent",
    ),
    "take_verbs": ListNote(
        "verbs of taking: they end before holding the same object starts, and "
        "`augment --as-released` inserts one where it is missing",
        "actions keep their annotated times, and the first action may well be a taking",
    ),
    "hold_verbs": ListNote(
        "verbs of holding, between taking and putting",
        'actions keep their annotated times, and balancing keeps "before holding it: taking it"',
    ),
    "put_verbs": ListNote(
        "verbs of putting: they start after holding the same object ends, and "
        "`augment --as-released` inserts one where it is missing",
        "actions keep their annotated times, and the last action may well be a putting",
    ),
    "heights": ListNote(
        "pairs like (above, beneath) that are settled by boxes: head level or higher is above the person",
        "heights stay as annotated",
    ),
    "opposite_relations": ListNote(
        "pairs that never hold together with one object",
        "two relations that contradict each other may both hold",
    ),
    "vague_relations": ListNote(
        "relations from which nothing follows (other relationship); they are never copied to other frames",
        "every relation is copied to the frames of the action it belongs to",
    ),
    "plain_contacts": ListNote(
        "contacts that hold with every other contact (touching): not denied while another is there",
        "touching may be denied of an object that is held",
    ),
    "always_named_objects": ListNote(
        "objects for which no reference stands in an action (picture: taking a picture)",
        "any object of an action may be named by a reference",
    ),
}
