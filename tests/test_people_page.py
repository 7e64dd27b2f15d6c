"""The pages people answer on: by their link alone, one item at a time, every answer kept once, whatever is sent."""

import re
import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from questree.people.book import Book
from questree.people.desk import Desk
from questree.people.page import application
from questree.people.paraphrases import must_change
from questree.people.results import Answered
from questree.people.task import WrongReply
from questree.people.terms import Terms
from questree.tables.run import Run
from questree.vocabulary.load import default
from worlds.asked_people import asked, copied

OURS = {"origin": "http://127.0.0.1:8000"}


def client(run: Run, host: str = "127.0.0.1", media: Path | None = None) -> TestClient:
    app = application(Desk(run, media), host)
    return TestClient(app, "http://127.0.0.1:8000", raise_server_exceptions=False)


def field(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found, name
    return unescape(found[1])


@pytest.fixture
def run(notebook: Path, tmp_path: Path) -> Run:
    found = copied(notebook, "run", tmp_path)
    asked(found, "--sample 4 --gold 0.5 --qualify 1 --annotators Ann,Ben")
    return found


def link(run: Run, name: str = "Ann") -> str:
    return next(f"/people/{one.token}/" for one in Book.of(run).annotators() if one.name == name)


def test_instructions_come_first_then_the_qualification_explains_what_was_wrong(run: Run) -> None:
    page, home = client(run), f"{link(run)}tasks/verify/"
    first = page.get(link(run)).text  # one task alone: straight to it
    assert "Some answers are wrong on purpose" in first
    work = page.post(f"{home}begin", headers=OURS).text
    item = next(one for one in Book.of(run).items("verify") if one.role == "qualification")
    assert field(work, "item") == str(item.item)
    wrong = {"yes": "no", "no": "yes"}[str(item.truth)]
    again = page.post(f"{home}answer", data={"item": item.item, "value": wrong}, headers=OURS).text
    assert f"Not quite. The answer is “{item.answer}”" in unescape(again)
    assert field(again, "item") == str(item.item)
    later = page.post(f"{home}answer", data={"item": item.item, "value": str(item.truth)}, headers=OURS).text
    assert field(later, "item") != str(item.item)
    row = Answered.read(Book.of(run), "verify").every.row(0, named=True)
    assert (row["value"], row["first"], row["tries"]) == (item.truth, wrong, 2)


def test_answers_are_kept_once_undone_and_resumed_to_the_end(run: Run) -> None:
    page, home = client(run), f"{link(run)}tasks/verify/"
    work = page.post(f"{home}begin", headers=OURS).text
    items = {str(one.item): one for one in Book.of(run).items("verify")}
    seen = []
    while 'name="item"' in work:
        number = field(work, "item")
        seen.append(number)
        data = {"item": number, "value": str(items[number].truth), "seconds": "3"}
        for _ in range(2):  # a double click
            answered = page.post(f"{home}answer", data=data, headers=OURS).text
        assert page.get(home).text.count(f'name="item" value="{number}"') == 0
        work = page.get(home).text  # a page that is closed and opened again
        assert ('name="item"' in answered) == ('name="item"' in work)
    assert len(seen) == len(set(seen)) == len(items)
    assert "All done" in work
    assert f"<output>{len(items)}</output> saved" in work
    back = page.post(f"{home}undo", headers=OURS).text
    assert field(back, "item") == seen[-1]
    assert "answered this already" in back
    assert len(Answered.read(Book.of(run), "verify").every) == len(items)


def test_undo_and_what_is_in_hand_outlive_the_server(run: Run) -> None:
    home = f"{link(run)}tasks/verify/"
    items = {str(one.item): one for one in Book.of(run).items("verify")}
    work = client(run).post(f"{home}begin", headers=OURS).text
    seen = []
    for _ in range(3):  # a new server each time
        seen.append(field(work, "item"))
        data = {"item": seen[-1], "value": str(items[seen[-1]].truth)}
        work = client(run).post(f"{home}answer", data=data, headers=OURS).text
    assert field(client(run).get(home).text, "item") == field(work, "item")
    assert field(client(run).post(f"{home}undo", headers=OURS).text, "item") == seen[-1]
    assert field(client(run).get(home).text, "item") == seen[-1]  # still, after another restart
    client(run).post(f"{home}answer", data={"item": seen[-1], "value": "cannot tell"}, headers=OURS)
    assert field(client(run).get(home).text, "item") == field(work, "item")
    said = Answered.read(Book.of(run), "verify").every.filter(item=int(seen[-1])).select("value", "tries").rows()
    assert said == [("cannot tell", 2)]
    stale = client(run).post(f"{home}answer", data={"item": seen[-1], "value": "cannot tell"}, headers=OURS).text
    assert field(stale, "item") == field(work, "item")  # a page one went back to: nothing counts twice
    assert len(Answered.read(Book.of(run), "verify").every) == 3


def test_replies_that_answer_nothing_are_refused_in_words_and_not_kept(run: Run) -> None:
    page, home = client(run), f"{link(run)}tasks/verify/"
    number = field(page.post(f"{home}begin", headers=OURS).text, "item")
    for data, message in (
        ({"item": number}, "Please choose one of the answers."),
        ({"item": number, "value": "perhaps"}, "one of the answers that are shown"),
        ({"item": number, "value": "no", "text": "x" * 501}, "at most 500 characters"),
        ({"item": number, "value": "no", "fault": "ugly"}, "This was not asked: ugly."),
        ({"item": "99999", "value": "yes"}, "not yours to answer"),
        ({"item": "-1", "value": "yes"}, "not yours to answer"),
        ({"value": "yes"}, "not yours to answer"),
    ):
        found = page.post(f"{home}answer", data=data, headers=OURS)
        assert found.status_code == 200
        assert message in unescape(found.text)
    assert page.post(f"{home}answer", content=b"x" * 200_000, headers=OURS).status_code == 413
    assert page.post(f"{home}answer", content=b"\xff=1", headers=OURS).status_code == 400
    assert Answered.read(Book.of(run), "verify").every.is_empty()


def test_only_links_lead_anywhere_and_only_pages_of_ours_change_anything(run: Run) -> None:
    here, beyond = client(run), client(run, "192.168.0.7")
    home = link(run)
    assert "Ann" in here.get("/").text
    nowhere = ["/", "/people/", "/people", "/people/guess", "/people/guess/", "/questions/x", f"{home}tasks/other/"]
    nowhere += [
        f"/people/guess/{rest}" for rest in ("tasks/verify/", "tasks/verify/answer", "films/x", "marks/holding")
    ]
    nowhere += ["/assets/people.js", "/people/guess/assets/people.js", "/colours.css", home.rstrip("/").upper()]
    for path in nowhere:
        assert beyond.get(path, follow_redirects=False).status_code == 404, path
        assert beyond.post(path, headers=OURS).status_code in (404, 405 * (path.startswith(home))), path
    found = beyond.get(f"{home}tasks/verify/")
    assert found.status_code == 200
    for path in re.findall(r'(?:href|src)="([^"]+)"', found.text):
        assert path.startswith(home)  # whatever the page needs comes by the link
        assert beyond.get(path).status_code == 200
    for headers in ({}, {"origin": "http://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}):
        for what in ("begin", "answer", "undo"):
            found = here.post(f"{home}tasks/verify/{what}", data={"item": "0", "value": "yes"}, headers=headers)
            assert found.status_code == 403, (headers, what)
    assert here.get(f"{home}tasks/verify/answer").status_code == 405
    assert here.get("/", headers={"host": "rebound.example"}).status_code == 400
    assert Answered.read(Book.of(run), "verify").every.is_empty()


def test_texts_are_escaped_and_what_is_known_is_not_shown(run: Run) -> None:
    book, page = Book.of(run), client(run)
    with book.writing() as made:
        made.execute("UPDATE item SET text = '<script>alert(1)</script>'")
    work = page.post(f"{link(run)}tasks/verify/begin", headers=OURS).text
    assert "&lt;script&gt;alert(1)" in work
    assert "<script>alert" not in work
    assert "qualification" not in work
    assert "gold" not in work.lower()


def test_somebody_who_fails_the_qualification_is_told_so(notebook: Path, tmp_path: Path) -> None:
    own = tmp_path / "strict.toml"
    text = (Path(__file__).parents[1] / "src/questree/people/tasks/verify.toml").read_text("utf-8")
    own.write_text(text.replace("instructions =", "admitted = 0.85\ninstructions =", 1), "utf-8")
    run = copied(notebook, "run", tmp_path)
    asked(run, f"--task {own} --sample 3 --qualify 2 --annotators Ann")
    page, home = client(run), f"{link(run)}tasks/strict/"
    work = page.post(f"{home}begin", headers=OURS).text
    for one in [one for one in Book.of(run).items("strict") if one.role == "qualification"]:
        for value in ("cannot tell", str(one.truth)):
            work = page.post(f"{home}answer", data={"item": one.item, "value": value}, headers=OURS).text
    assert "nothing more to do here" in work
    assert "Thank you" in page.get(home).text


def test_frames_are_drawn_or_come_from_a_folder(run: Run, tmp_path: Path) -> None:
    home, page = link(run), client(run)
    facts = Run(run.folder).load("facts")
    number, first = int(facts.frames.filter(video=0)["number"][0]), facts.videos["id"][0]
    drawn = page.get(f"{home}media/{first}/{number}")
    assert drawn.headers["content-type"] == "image/png"
    assert drawn.content.startswith(b"\x89PNG")
    assert len(page.get(f"{home}media/{first}/{number}?small").content) < len(drawn.content)
    for path in (f"media/{first}/99999999", f"media/nobody/{number}", f"films/{first}", "pictures/nobody"):
        assert page.get(f"{home}{path}").status_code == 404, path
    work = page.post(f"{home}tasks/verify/begin", headers=OURS).text
    assert "what the person does is not shown" in work
    video = Book.of(run).items("verify")[0].scope[0]
    folder = tmp_path / "media" / first
    folder.mkdir(parents=True)
    (folder / f"{number}.png").write_bytes(b"png")
    (tmp_path / "media" / f"{video}.mp4").write_bytes(b"film")
    (tmp_path / "secret.png").write_bytes(b"secret")
    real = client(run, media=tmp_path / "media")
    assert real.get(f"{home}media/{first}/{number}").content == b"png"
    assert real.get(f"{home}films/{video}").content == b"film"
    assert real.get(f"{home}films/..%2Fsecret").status_code == 404
    assert real.get(f"/people/guess/films/{video}").status_code == 404
    assert "<video" in real.get(f"{home}tasks/verify/").text


def test_without_a_truth_nothing_that_was_annotated_is_drawn_but_where_things_are(run: Run) -> None:
    from questree.draw.runs import frame_scene

    facts = run.load("facts")
    words, bare = run.vocabulary(), replace(facts, tracks=facts.tracks.clear(), actions=facts.actions.clear())
    position = int(facts.relations.filter(video=0)["frame"][0])
    one, other = (each.between(0, 1) for each in (facts, bare))
    drawn = frame_scene(one, position, words, telling=False)
    assert drawn == frame_scene(other, position, words, telling=False)
    assert {thing.word for thing in drawn.things}
    told = frame_scene(one, position, words, telling=True)
    assert any(thing.relations for thing in told.things)
    assert {thing.word for thing in told.things} == {thing.word for thing in drawn.things}


def test_a_made_up_world_is_drawn_from_its_truth_with_what_marks_mean(run: Run) -> None:
    shutil.copytree(run.raw, run.truth)
    page, home = client(run), link(run)
    work = page.post(f"{home}tasks/verify/begin", headers=OURS).text
    assert "What do the marks mean?" in work
    assert "is not shown" not in work
    assert page.get(f"{home}marks/holding").content.startswith(b"\x89PNG")
    assert page.get(f"{home}marks/nothing").status_code == 404


def test_images_are_drawn_too(notebook: Path, tmp_path: Path) -> None:
    run = copied(notebook, "images", tmp_path)
    asked(run, "--task choose --sample 2 --split all --annotators Ann")
    asked(run, "--task paraphrase --sample 2 --split all")
    page = client(run)
    assert "Choose the answer" in page.get(link(run)).text  # two tasks: both are listed
    work = page.post(f"{link(run)}tasks/choose/begin", headers=OURS).text
    found = re.findall(r'<img src="([^"]*/pictures/[^"]*)"', work)
    assert found
    assert page.get(found[0]).content.startswith(b"\x89PNG")
    assert "I am not sure" in work
    page.post(f"{link(run)}tasks/paraphrase/begin", headers=OURS)


def test_words_are_explained_as_the_vocabulary_has_them() -> None:
    terms = Terms(default())
    found = terms.of("Did they carry the cup before standing up beneath a shelf?")
    assert list(found) == ["carrying", "cup", "before", "standing up", "beneath"]
    assert found["carrying"][1] == "Whoever is carrying something is also holding and touching it."
    assert found["cup"] == ["Also said of: glass, bottle."]
    assert terms.of("Is it so?") == {}
    assert list(terms.of("What did they hold for the longest time after taking a bag from somewhere?")) == [
        "holding", "longest", "after", "taking a bag from somewhere",
    ]  # fmt: skip


def test_every_relation_and_action_that_is_asked_about_is_explained() -> None:
    words, terms = default(), Terms(default())
    never = {"not contacting", "other relationship", "annotated", "not looking at", "unsure"}
    for relation in words.relations:
        if relation.name not in never:
            for form in filter(None, (relation.name, relation.present, relation.past, relation.progressive)):
                assert terms.of(f"they {form} it"), form
    for action in words.actions:
        for form in (action.phrase, action.present, action.past):
            assert action.phrase in terms.of(f"they {form} now"), form


def test_a_paraphrase_says_the_same_in_other_words_and_names_what_it_must() -> None:
    terms = Terms(default())
    original = "Was a blanket the first thing they were holding?"
    must_change(original, "Did they pick up a blanket first of all?", terms)
    must_change("Did they hold a cup?", "Was a glass in their hands?", terms)  # another name of the same
    for text, message in (
        ("was a Blanket the first thing they were holding", "same words"),
        ("A blanket?", "whole question"),
        ("Did they pick up a pillow first of all?", "names: blanket"),
        ("blanket " * 60, "whole question"),
    ):
        with pytest.raises(WrongReply, match=message):
            must_change(original, text, terms)
    images = Terms(None, ["dog"])
    must_change("How many dogs are there?", "What is the number of dogs here?", images)
    for word in ("glasses", "dishes", "buses", "berries", "shelves"):  # whatever is repeated is named
        for noun in ("glass", "dish", "bus", "berry", "shelf", "shelve"):
            must_change(f"How many {word} are there?", f"Now, how many {word} are there?", Terms(None, [noun]))
    with pytest.raises(WrongReply, match="names: dog"):
        must_change("How many dogs are there?", "What is the number of cats here?", images)
