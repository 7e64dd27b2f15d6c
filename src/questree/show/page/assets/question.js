// The page of a question: what is said about the chosen node, and whose errors the DAG shows.
"use strict";

(() => {
  const root = document.getElementById("dag");
  const details = document.getElementById("details");
  const tell = (name, detail) => root.dispatchEvent(new CustomEvent(name, { detail }));

  root.addEventListener("questree:chosen", (event) => {
    for (const article of details.querySelectorAll("article")) article.hidden = Number(article.dataset.node) !== event.detail.node;
    details.scrollTop = 0;
  });
  details.addEventListener("click", (event) => {
    const to = event.target.closest("[data-to-node]");
    if (to) tell("questree:go", Number(to.dataset.toNode));
  });
  for (const input of document.querySelectorAll('input[name="show"]')) {
    input.addEventListener("change", () => {
      for (const part of document.querySelectorAll(".reason, .clashes")) part.hidden = part.dataset.model !== input.value;
      tell("questree:show", input.value);
    });
  }
})();
