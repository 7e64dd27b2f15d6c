"""Ids and the English they stand for, as AGQA's ENG.txt and IDX.txt."""

from questree.vocabulary.words import Vocabulary


def id_tables(vocabulary: Vocabulary) -> dict[str, dict[str, str]]:
    """ENG: id -> English; IDX: English -> id, of the word that is counted where two are said alike."""
    words = [(word.id, word.name, not word.merged) for word in vocabulary.objects]
    words += [(word.id, word.name, not word.folds) for word in vocabulary.relations if word.group != "derived"]
    words += [(word.id, word.phrase, not word.merged) for word in vocabulary.actions]
    ids: dict[str, str] = {}
    for counted in (True, False):
        for id, english, own in words:
            if own == counted:
                ids.setdefault(english, id)
    return {"ENG": {id: english for id, english, _ in words}, "IDX": ids}
