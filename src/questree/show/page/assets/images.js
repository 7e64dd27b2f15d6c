// Images of a set: a part of the program shows only what it picks out, the chosen sub-question outlines its things.
"use strict";

(() => {
  const things = () => document.querySelectorAll("[data-parts]");
  const parts = (thing) => thing.dataset.parts.split(" ");

  document.addEventListener("click", (event) => {
    const part = event.target.closest("[data-part]");
    if (!part) return;
    const chosen = part.getAttribute("aria-pressed") !== "true";
    for (const other of document.querySelectorAll("[data-part]")) other.setAttribute("aria-pressed", "false");
    part.setAttribute("aria-pressed", String(chosen));
    for (const thing of things()) thing.classList.toggle("dimmed", chosen && !parts(thing).includes(part.dataset.part));
  });

  document.addEventListener("questree:chosen", (event) => {
    for (const role of ["decides", "reference"]) {
      const own = event.detail[role].map(String);
      for (const thing of things()) thing.classList.toggle(role, parts(thing).some((part) => own.includes(part)));
    }
  });
})();
