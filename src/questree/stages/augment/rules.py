"""All fifteen rules, and those of plugins, in the order they work; the numbers are those of the fact sheet."""

from questree.extensions import Registry
from questree.stages.augment import asking
from questree.stages.augment.duplicates import merge_duplicates
from questree.stages.augment.entailments import close_entailments
from questree.stages.augment.heights import settle_heights
from questree.stages.augment.instances import add_actions, merge_overlapping
from questree.stages.augment.missing import infer_missing
from questree.stages.augment.names import merge_synonyms
from questree.stages.augment.order import trim_overlaps
from questree.stages.augment.propagation import propagate
from questree.stages.augment.rule import QUESTIONS, Rule
from questree.stages.augment.sparsity import drop_sparse_spatial
from questree.stages.augment.verbs import add_verbs

RULES = Registry[Rule]("augmentation")
for _rule in (
    Rule(1, "add actions", "frames inside start..end belong to the action", add_actions),
    Rule(2, "merge synonyms", "words for the same thing are one class", merge_synonyms),
    Rule(3, "merge duplicate boxes", "boxes of two classes in one place are one object", merge_duplicates),
    # judged on what people annotated: before annotations are deleted or copied
    Rule(12, "drop sparse spatial relations", "too few of a video's annotations have one", drop_sparse_spatial),
    Rule(5, "settle above and beneath", "beneath means at head level or higher", settle_heights),
    Rule(11, "merge overlapping actions", "instances of one action that overlap are one", merge_overlapping),
    Rule(8, "trim by order", "taking, then holding, then putting", trim_overlaps),
    Rule(9, "infer missing actions", "no holding without taking and putting", infer_missing),
    Rule(6, "add verb relations", "an action says (verb, object) on each of its frames", add_verbs),
    Rule(10, "propagate annotations", "copied within actions and to neighbouring frames", propagate),
    Rule(7, "close entailments", "carrying is holding is touching", close_entailments),
    Rule(4, "leave out attention", "nobody can tell where a person looks", asking.leave_out_attention, QUESTIONS),
    Rule(
        13,
        "leave out single-object verbs",
        "the verb gives the object away",
        asking.leave_out_single_object_verbs,
        QUESTIONS,
    ),
    Rule(14, "leave out close lengths", "lengths nobody can compare by eye", asking.leave_out_close_lengths, QUESTIONS),
    Rule(15, "leave out transitions", "no length questions about a moment", asking.leave_out_transitions, QUESTIONS),
):
    RULES.add(_rule.name, _rule)
