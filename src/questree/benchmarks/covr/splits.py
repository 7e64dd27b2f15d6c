"""COVR's properties of questions and its 21 splits, as predicates (docs/covr-splits.md has their language)."""

# COVR's name of a template -> the name its question files use
PATTERNS = {
    "VERIFYATTR": "verify_attr",
    "CHOOSEATTR": "choose_attr",
    "QUERYATTR": "query_attr",
    "COMPARECOUNT": "compare_count",
    "COUNT": "count_ref",
    "VERIFYCOUNT": "verify_count_ref",
    "COUNTGROUPBY": "count_ref_group_by",
    "VERIFYCOUNTGROUPBY": "verify_count_ref_group_by",
    "VERIFYLOGIC": "multiple_ref",
    "VERIFYQUANT": "quantifier",
    "VERIFYQUANTATTR": "quantifier_same_attr",
    "VERIFYSAMEATTR": "specific_same_attr",
    "QUERYOBJECT": "query_object",
    "CHOOSEOBJECT": "choose_object",
    "CHOOSEREL": "choose_rel",
}
TEMPLATE_OF = {pattern: template for template, pattern in PATTERNS.items()}

# operation -> what its words are; these words are the terms of the lexical split
TERMS = {
    "find": "noun",
    "filter": "attribute",
    "with_relation": "relation",
    "verify_attr": "attribute",
    "choose_attr": "attribute",
    "choose_relation": "relation",
    "choose_name": "noun",
}
WORDS = TERMS | {"with_relation_object": "relation", "query_attr": "group", "all_same": "group"}
ANSWERING = ("query_name", "query_attr")  # as the last row, they make the answer a term too
JOINT = ":_"  # in a relation with its preposition: two terms

PROPERTIES = {
    "HAS-QUANT": "row(all) | row(some) | row(none) | row(all_same)",
    "HAS-QUANT-ALL": "row(all) | row(all_same)",
    "HAS-QUANT-COMPSCOPE": "over(all, ~find) | over(some, ~find) | over(none, ~find) | over(all_same, ~find)",
    "HAS-COMPAR": "over(gt, count, count) | over(lt, count, count) | over(eq, count, count)",
    "HAS-COMPAR-MORE": "row(gt)",
    "HAS-GROUPBY": "row(group_by_images)",
    "HAS-LOGIC": "row(logic_and) | row(logic_or)",
    "HAS-LOGIC-AND": "row(logic_and)",
    "HAS-COUNT": "row(count)",
    "HAS-NUM": "number",
    "HAS-NUM-3": "number(3)",
    "HAS-NUM-3-ANS-3": "number(3) | answer(3)",
    "HAS-ATTR": "row(filter)",
    "HAS-SAMEATTR-COLOR": "row(all_same, group=color) | template(VERIFYSAMEATTR) & row(query_attr, group=color)",
    "RM/V/C": "over(with_relation, with_relation)",
    "ANS-NUM": "numeric",
    "ANS-ATTR": "last(query_attr)",
    "ANS-NOUN": "last(query_name)",
    **{f"TPL-{template}": f"template({template})" for template in PATTERNS},
}
# what the released files call a property; those of templates follow its names for them
RELEASED = {
    "HAS-QUANT": "has_quantifier",
    "HAS-QUANT-ALL": "has_quantifier_all",
    "HAS-QUANT-COMPSCOPE": "has_complex_quantifier_scope",
    "HAS-COMPAR": "has_compare",
    "HAS-COMPAR-MORE": "has_compare_more",
    "HAS-GROUPBY": "has_group_by",
    "HAS-LOGIC": "has_logic",
    "HAS-LOGIC-AND": "has_logic_and",
    "HAS-COUNT": "has_count",
    "HAS-NUM": "has_number",
    "HAS-NUM-3": "has_num_3",
    "HAS-NUM-3-ANS-3": "has_num_3_ans_3",
    "HAS-ATTR": "has_attribute",
    "HAS-SAMEATTR-COLOR": "has_same_attribute_color",
    "RM/V/C": "rm_v_c",
    "ANS-NUM": "answer_number",
    "ANS-ATTR": "answer_attribute",
    "ANS-NOUN": "answer_noun",
    "TPL-VERIFYATTR": "tpl_verify_attribute",
    "TPL-CHOOSEATTR": "tpl_choose_attr",
    "TPL-QUERYATTR": "tpl_query_attr",
    "TPL-COMPARECOUNT": "tpl_compare_count",
    "TPL-COUNT": "tpl_count",
    "TPL-VERIFYCOUNT": "tpl_verify_count",
    "TPL-COUNTGROUPBY": "tpl_count_group_by",
    "TPL-VERIFYCOUNTGROUPBY": "tpl_verify_count_group_by",
    "TPL-VERIFYLOGIC": "tpl_verify_logic",
    "TPL-VERIFYQUANT": "tpl_verify_quantifier",
    "TPL-VERIFYQUANTATTR": "tpl_verify_quantifier_attribute",
    "TPL-VERIFYSAMEATTR": "tpl_verify_same_attribute",
    "TPL-QUERYOBJECT": "tpl_query_object",
    "TPL-CHOOSEOBJECT": "tpl_choose_object",
    "TPL-CHOOSEREL": "tpl_choose_rel",
    "TPL-VERIFYCOUNT | TPL-VERIFYCOUNTGROUPBY": "tpl_verify_count_union_tpl_verify_count_group_by",
}
FEW_SHOT = (  # Table 7
    "HAS-QUANT",
    "HAS-QUANT-ALL",
    "HAS-QUANT-COMPSCOPE",
    "HAS-COMPAR",
    "HAS-COMPAR-MORE",
    "HAS-GROUPBY",
    "HAS-LOGIC",
    "HAS-LOGIC-AND",
    "HAS-NUM-3",
    "HAS-NUM-3-ANS-3",
    "ANS-NUM",
)
ZERO_SHOT = (  # Tables 4 and 8, with the two that are drawn
    "HAS-QUANT-COMPSCOPE & HAS-QUANT-ALL",
    "HAS-COUNT & HAS-ATTR",
    "HAS-COUNT & RM/V/C",
    "HAS-SAMEATTR-COLOR",
    "TPL-CHOOSEOBJECT",
    "TPL-VERIFYQUANTATTR",
    "TPL-VERIFYATTR",
    "TPL-VERIFYCOUNT | TPL-VERIFYCOUNTGROUPBY",
)
PROGRAM, LEXICAL = "PROGRAM", "LEXICAL"
FURTHER = (  # properties that no split is named by, but its parts
    "HAS-NUM",
    "HAS-COUNT",
    "HAS-ATTR",
    "RM/V/C",
    "ANS-ATTR",
    "TPL-CHOOSEATTR",
    "TPL-VERIFYCOUNT",
    "TPL-VERIFYCOUNTGROUPBY",
)
KEPT = 250  # examples of its property that stay in the training set of a few-shot split
HELD_OUT_SHAPES = 0.2  # of the different shapes of programs
