// Frames on the timeline: the chosen sub-question's evidence is lit, a click or an arrow key shows a frame.
"use strict";

(() => {
  const timeline = document.getElementById("timeline");
  const place = document.getElementById("frame-place");
  const columns = () => document.querySelectorAll("#timeline .frame");
  timeline.tabIndex = 0;

  function light(frames) {
    const shown = new Set(frames.shown.map(String));
    const window = new Set(frames.window.map(String));
    for (const column of columns()) {
      column.classList.toggle("lit", shown.has(column.dataset.frame));
      column.classList.toggle("window", window.has(column.dataset.frame));
    }
  }

  function mark() {
    const here = document.getElementById("frame");
    for (const column of columns()) column.classList.toggle("here", here !== null && column.dataset.frame === here.dataset.frame);
  }

  function open(frame) {
    htmx.ajax("GET", timeline.dataset.frames + frame, { target: "#frame-place", swap: "innerHTML" });
  }

  document.addEventListener("questree:chosen", (event) => light(event.detail));
  timeline.addEventListener("click", (event) => {
    const column = event.target.closest(".frame");
    if (column) open(column.dataset.frame);
  });
  place.addEventListener("click", (event) => {
    const to = event.target.closest("[data-to]");
    if (to) open(to.dataset.to);
  });
  document.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const here = document.getElementById("frame");
    if (!by || !here || !event.target.closest("#timeline, #frame-place")) return;
    const next = Number(here.dataset.frame) + by;
    if (next >= 0 && next < document.querySelectorAll("#timeline svg:first-of-type .frame").length) open(next);
  });
  // a new frame first wears the attributes of the old one
  new MutationObserver(mark).observe(place, { childList: true, subtree: true, attributeFilter: ["data-frame"] });
})();
