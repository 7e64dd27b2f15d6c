// The list: filters are folded on a narrow screen, and a filter that is wrong is marked where it stands.
"use strict";

(() => {
  const narrow = matchMedia("(max-width: 1000px)");
  const filters = document.querySelector(".fold-filters");
  const fold = () => (filters.open = !narrow.matches);
  fold();
  narrow.addEventListener("change", fold);

  function mark() {
    for (const fault of document.querySelectorAll(".fault")) {
      const field = document.querySelector(`[aria-describedby~="${fault.id}"]`);
      field.setAttribute("aria-invalid", String(fault.textContent !== ""));
    }
  }
  mark();
  document.addEventListener("htmx:after:swap", mark);
})();
