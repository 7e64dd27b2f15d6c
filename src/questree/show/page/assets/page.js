// Keys that work everywhere: arrows turn pages and questions, j and k walk through a list, / goes to the query.
"use strict";

(() => {
  const typing = (target) => target.closest("input, select, textarea") !== null;

  function follow(rel) {
    const link = document.querySelector(`a[rel="${rel}"]`);
    if (link) link.click();
  }

  function step(by) {
    const links = [...document.querySelectorAll(".list .text a")];
    if (!links.length) return;
    const at = links.indexOf(document.activeElement);
    const next = links[Math.min(Math.max(at + by, 0), links.length - 1)];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    const inFrames = event.target.closest(".seen, .dag") !== null;
    const keys = {
      ArrowLeft: () => inFrames || follow("prev"),
      ArrowRight: () => inFrames || follow("next"),
      j: () => step(1),
      k: () => step(-1),
      "/": () => {
        const box = document.querySelector(".query input");
        if (!box) return;
        event.preventDefault();
        box.focus();
      },
    };
    if (keys[event.key]) keys[event.key]();
  });

  // a word that is typed counts when Enter is pressed, not a second time when its box is left
  document.addEventListener("change", (event) => event.target.matches("input:not([type])") && event.stopPropagation(), true);
})();
