// Frames on the timeline: the chosen sub-question's evidence is marked, a click or an arrow key shows a frame; if there
// is a film it is wound to the frame, and a line on the timeline shows where it is.
"use strict";

(() => {
  const timeline = document.getElementById("timeline");
  if (!timeline) return;
  const place = document.getElementById("frame-place");
  const film = document.getElementById("film");
  const first = timeline.querySelector("svg");
  const frames = [...first.querySelectorAll(".frame")];
  const second = (frame) => Number(frames[frame].dataset.second);
  const columns = () => document.querySelectorAll("#timeline .frame");
  const shown = () => Number(document.getElementById("frame")?.dataset.frame ?? -1);
  timeline.tabIndex = 0;

  function light(lit) {
    for (const role of ["decides", "reference", "time"]) {
      const own = new Set(lit[role].map(String));
      for (const column of columns()) column.classList.toggle(role, own.has(column.dataset.frame));
    }
  }

  function mark() {
    const here = shown();
    for (const column of columns()) column.classList.toggle("here", Number(column.dataset.frame) === here);
    if (film?.paused && here >= 0 && at(film.currentTime) !== here) film.currentTime = second(here) + 0.002;
    if (film) moved();
  }

  function open(frame) {
    film?.pause();
    if (frame !== shown()) htmx.ajax("GET", timeline.dataset.frames + frame, { target: "#frame-place", swap: "innerHTML" });
    else if (film) film.currentTime = second(frame) + 0.002;
  }

  // the last annotated frame that was seen at a time
  const at = (time) => Math.max(frames.findLastIndex((_, frame) => second(frame) <= time + 0.01), 0);

  function moved() {
    const x = Number(first.dataset.left) + film.currentTime * Number(first.dataset.unit);
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    document.getElementById("play").textContent = film.paused ? "play" : "pause";
    document.getElementById("clock").textContent = `${film.currentTime.toFixed(1)} of ${(film.duration || 0).toFixed(1)} s`;
    // boxes lie on the frame they were drawn on, and on no other
    const here = shown();
    film.parentElement.classList.toggle("between", !film.paused || here < 0 || Math.abs(film.currentTime - second(here)) > 0.05);
  }

  const cursor = document.createElementNS("http://www.w3.org/2000/svg", "line");
  if (film && frames.length) {
    cursor.setAttribute("class", "cursor");
    cursor.setAttribute("y1", 18);
    cursor.setAttribute("y2", first.viewBox.baseVal.height);
    first.append(cursor);
    document.getElementById("play").addEventListener("click", () => (film.paused ? film.play() : film.pause()));
    for (const event of ["loadedmetadata", "timeupdate", "seeked", "play", "pause"]) film.addEventListener(event, moved);
    film.addEventListener("pause", () => at(film.currentTime) !== shown() && open(at(film.currentTime)));
    film.addEventListener("seeked", () => film.paused && at(film.currentTime) !== shown() && open(at(film.currentTime)));
  }
  document.addEventListener("questree:chosen", (event) => light(event.detail));
  timeline.addEventListener("click", (event) => {
    const column = event.target.closest(".frame");
    if (column) open(Number(column.dataset.frame));
  });
  place.addEventListener("click", (event) => {
    const to = event.target.closest("[data-to]");
    if (to) open(Number(to.dataset.to));
  });
  document.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || shown() < 0 || !event.target.closest("#timeline, #frame-place")) return;
    const next = shown() + by;
    if (next >= 0 && next < frames.length) open(next);
  });
  // a new frame first wears the attributes of the old one
  new MutationObserver(mark).observe(place, { childList: true, subtree: true, attributeFilter: ["data-frame"] });
})();
