"""Tables of DAGs, predictions and facts in words; predictions of any shape scored as the commands score them."""

import json
from pathlib import Path

import polars as pl
import pytest

import questree
from questree.api.asking import Asked
from worlds.commands import questree as command


@pytest.fixture(params=["run", "images"])
def run(notebook: Path, request: pytest.FixtureRequest) -> questree.Run:
    return questree.open(notebook / request.param)


def same(one: questree.Scores, other: questree.Scores) -> bool:
    return one.frame().drop("model").equals(other.frame().drop("model"))


def test_nodes_and_edges_are_the_dags_of_questions(run: questree.Run) -> None:
    nodes, edges = run.nodes(), run.edges()
    assert nodes["id"].is_unique().all()
    assert set(edges["parent"]) | set(edges["child"]) <= set(nodes["id"])
    text = dict(nodes.select("id", "question").iter_rows())
    for name in nodes.filter("asked")["id"].gather_every(7):
        dag = run[name].dag
        parts = edges.filter(parent=name)["child"].unique().to_list()
        assert {text[part] for part in parts} == {part.question for part in dag.parts()}
        own = nodes.row(by_predicate=pl.col("id") == name, named=True)
        assert (own["type"], own["program"]) == (dag[0].type, dag[0].program)
        assert own["answer"] in (dag[0].answer, None)


def test_a_stored_model_scores_as_the_command_says(run: questree.Run) -> None:
    done = command("score", "decomp", run.folder, "--resamples", 20, "--json", "-")
    rows = [{**row, "n": row["n"]} for row in json.loads(done.stdout)]
    found = run.score("perception-noise", resamples=20)
    assert found.frame().to_dicts() == rows


def test_predictions_of_any_shape_score_alike(run: questree.Run, tmp_path: Path) -> None:
    table = run.predictions("perception-noise").select("id", "prediction")
    wanted = run.score("perception-noise", resamples=0)
    table.write_csv(tmp_path / "said.csv")
    said = dict(table.iter_rows())
    for given in (table, said, table.to_arrow(), tmp_path / "said.csv", str(tmp_path / "said.csv"), table.lazy()):
        assert same(run.score(given, resamples=0), wanted)
    assert same(run.score(lambda question: said.get(question.id), resamples=0), wanted)
    assert same(run.score(lambda some: [said.get(each.id) for each in some], batch=7, resamples=0), wanted)


def test_what_is_asked_is_what_is_scored(run: questree.Run) -> None:
    heard = list[Asked]()

    def model(question: Asked) -> str:
        heard.append(question)
        return "yes"

    said = run.ask(model, split="test")
    assert said["id"].to_list() == [each.id for each in heard]
    assert [each.text for each in heard] == run.nodes(split="test")["question"].to_list()
    assert {str(each.scope) for each in heard} <= {str(scope) for scope in run.nodes()["scope"].to_list()}
    assert same(run.score(said, split="test", resamples=0), run.score(lambda _: "yes", split="test", resamples=0))
    assert len(run.ask(model, split="test", parts=False)) == len(run.questions(split="test"))


def test_questions_alone_are_scored_as_the_command_does(run: questree.Run) -> None:
    kind = {"agqa": "agqa", "covr": "covr"}[run.benchmark]
    done = command("score", kind, run.folder, "--model", "perception-noise", "--resamples", 0, "--json", "-")
    found = run.score("perception-noise", on="questions", resamples=0).frame()
    wanted = pl.DataFrame(json.loads(done.stdout), schema=found.schema)
    assert found.sort(found.columns).equals(wanted.sort(found.columns))


def test_scores_are_tables_plots_and_files(run: questree.Run, tmp_path: Path) -> None:
    scores = run.score("perception-noise", resamples=20)
    assert scores.table("type")["type"].to_list()[-1] == "Overall"
    assert "N/A" in scores.table("type")["IC"].to_list()
    assert scores.plot("accuracy")._repr_svg_().startswith("<svg")
    assert "<table>" in scores._repr_html_()
    assert scores.compare(scores)["difference"].drop_nulls().unique().to_list() == [0.0]
    for name in ("scores.json", "scores.csv", "scores.parquet"):
        scores.save(tmp_path / name)
    assert pl.read_parquet(tmp_path / "scores.parquet").equals(scores.frame())
    assert len(json.loads((tmp_path / "scores.json").read_text())) == len(scores.rows)
    with pytest.raises(questree.BadInput, match=r"ends with \.json"):
        scores.save(tmp_path / "scores.txt")
    with pytest.raises(questree.BadInput, match="choose from type"):
        scores.table("colour")
    with pytest.raises(questree.BadInput, match="expected a metric, got 'F1'"):
        scores.plot("F1")


def test_a_model_that_is_no_model_is_refused(run: questree.Run) -> None:
    with pytest.raises(questree.BadInput, match="expected 3 answers to a batch, got 1"):
        run.ask(lambda some: ["yes"], batch=3)
    with pytest.raises(questree.BadInput, match="expected a list of 3 answers to a batch, got str"):
        run.ask(lambda some: "yes", batch=3)
    with pytest.raises(questree.BadInput, match="no prediction for"):
        run.score({"x": "yes"})
    with pytest.raises(questree.BadInput, match="a file or a callable, got int"):
        run.score(7)
    with pytest.raises(questree.BadInput, match="expected columns id and prediction, got a"):
        run.score(pl.DataFrame({"a": [1]}))
    with pytest.raises(questree.BadInput, match="cannot be the name of a model"):
        run.ask(lambda question: "yes", name="../out")
    with pytest.raises(questree.BadInput, match="choose from missing"):
        run.score({"x": "yes"}, ways=3)  # type: ignore[call-arg]


def test_answers_are_kept_under_a_name(notebook: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(notebook / "images", tmp_path / "run")
    run = questree.open(tmp_path / "run")
    said = run.ask(lambda question: "yes", name="always yes")
    assert run.models == ["always yes", "perception-noise"]
    assert same(run.score("always yes", resamples=0), run.score(said, resamples=0))


def test_released_files_are_scored_without_a_run(notebook: Path) -> None:
    folder = notebook / "released" / "balanced_test_hierarchies"
    done = command(
        *("score", "decomp", "--hierarchies", folder, "--predictions", notebook / "predictions.jsonl"),
        *("--resamples", 0, "--json", "-"),
    )
    found = questree.score(notebook / "predictions.jsonl", hierarchies=folder, resamples=0)
    assert found.frame().to_dicts() == json.loads(done.stdout)
    assert found["accuracy"] == 1.0


def test_facts_are_in_words(notebook: Path) -> None:
    run, images = questree.open(notebook / "run"), questree.open(notebook / "images")
    words = {word.name for word in run.vocabulary.relations}
    assert set(run.facts("relations")["relation"]) <= words
    assert set(run.facts("relations")["video"]) <= set(run.facts("videos")["id"])
    assert len(run.facts("relations")) == len(run.facts("relations", raw=True))
    assert set(images.facts("relations")["image"]) <= set(images.facts("images")["id"])
    with pytest.raises(questree.BadInput, match="expected a table, got 'tracks'; choose from videos, frames"):
        run.facts("tracks")
    with pytest.raises(questree.BadInput, match="choose from facts, raw, truth"):
        run.facts("videos", stage="cooked")


def test_records_are_a_table_and_so_are_columns_called_otherwise(run: questree.Run) -> None:
    table = run.predictions("perception-noise").select("id", "prediction")
    wanted = run.score("perception-noise", resamples=0)
    assert same(run.score(table.to_dicts(), resamples=0), wanted)
    other = table.rename({"id": "name", "prediction": "answer"})
    assert same(run.score(other, id_column="name", answer_column="answer", resamples=0), wanted)
    with pytest.raises(questree.BadInput, match="name others by id_column= and answer_column="):
        run.score(other)


def test_what_newcomers_get_wrong_is_said_in_one_line(run: questree.Run) -> None:
    whole = dict(run.questions().select("id", "answer").iter_rows())
    with pytest.raises(questree.BadInput, match=r'no prediction for .*\non: .* on="questions" to score'):
        run.score(whole)
    with pytest.raises(questree.BadInput, match="predictions for no question here: 1"):
        run.score({"elsewhere-1": "yes"})
    with pytest.raises(questree.BadInput, match="no stored model; models of this run: perception-noise"):
        run.score("my-model")
    for wrong in ({"missing": "ignore"}, {"policy": "strict"}):
        with pytest.raises(questree.BadInput, match=r"expected a known one, got .*; choose from e"):
            run.score(whole, **wrong)  # type: ignore[arg-type]
    with pytest.raises(questree.BadInput, match="expected a callable"):
        run.ask("my-model")  # type: ignore[arg-type]
    with pytest.raises(questree.BadInput, match="no question 3"):
        run[3]  # type: ignore[index]
    with pytest.raises(questree.BadInput, match="expected a style, got 'poem'"):
        run.traces(style="poem")
    scores = run.score("perception-noise", resamples=0)
    for what in (lambda: scores["acc"], lambda: scores.table("type", ["acc"]), lambda: scores.plot("acc")):
        with pytest.raises(questree.BadInput, match="expected a metric, got 'acc'; choose from question accuracy"):
            what()
    with pytest.raises(questree.BadInput, match="expected a group of IC, got 'x'; choose from"):
        scores["IC", "x"]
    with pytest.raises(questree.BadInput, match="no values of IC by 'answer'"):
        scores.plot("IC", by="answer")


def test_ids_that_are_there(run: questree.Run) -> None:
    some = run.questions(columns="id")["id"]
    assert some[0] in run
    assert not any(name in run for name in ("x", f"{some[0]}999999", 3))
