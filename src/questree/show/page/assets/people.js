// One item at a time: keys, and answers that are sent until the server says that they are kept.
"use strict";

(() => {
  const AGAIN = 2000; // milliseconds until what was not kept is sent again
  const SOON = 250; // a second click of a double click is not an answer to the next item
  let shown = performance.now();
  let away = 0;
  let hidden = null;
  let sending = false;

  const media = window.questreeMedia;
  const work = () => document.getElementById("work");
  const form = () => document.getElementById("reply");
  const typing = (target) => target.closest("textarea, input:not([type]), input[type=text]") !== null;
  const trouble = (there) => (document.getElementById("trouble").hidden = !there);

  function replaced(html) {
    media.stop();
    work().outerHTML = html;
    window.scrollTo(0, 0);
    begun();
  }

  // it must be known whether an answer was kept: a page that could not be sent stays as it is and is sent again
  async function send(to, body) {
    if (sending) return;
    sending = true;
    work().classList.add("busy");
    for (;;) {
      try {
        const found = await fetch(to, { method: "POST", body });
        if (found.status < 500) {
          const text = await found.text();
          trouble(false);
          sending = false;
          if (found.ok) replaced(text);
          else document.body.textContent = text;
          return;
        }
      } catch {
        // the server is not there
      }
      trouble(true);
      await new Promise((done) => setTimeout(done, AGAIN));
    }
  }

  function answer() {
    const given = new URLSearchParams(new FormData(form()));
    given.set("seconds", ((performance.now() - shown - away) / 1000).toFixed(2));
    send(form().action, given);
  }

  function choose(button) {
    if (performance.now() - shown < SOON) return;
    for (const other of form().querySelectorAll("[data-value]")) other.setAttribute("aria-pressed", String(other === button));
    form().elements.value.value = button.dataset.value;
    const more = form().querySelector(".more");
    if (more) more.hidden = button.dataset.more === undefined;
    if (more && button.dataset.more !== undefined) more.querySelector("input").focus();
    else answer();
  }

  function begun() {
    shown = performance.now();
    away = 0;
    hidden = document.hidden ? shown : null;
    media.begun();
    const box = form() && form().querySelector("textarea");
    if (box) box.focus();
  }

  const done = { undo: () => send(`${work().dataset.home}undo`, new URLSearchParams()), play: media.play };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button || button.disabled) return;
    if (button.dataset.value !== undefined) choose(button);
    else if (button.dataset.do) done[button.dataset.do]();
  });
  document.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.target.dataset.begin !== undefined) send(event.target.action, new URLSearchParams());
    else if (performance.now() - shown >= SOON) answer();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !form()) {
      if (event.key === "u" && !form() && document.querySelector("[data-do=undo]")) done.undo();
      return;
    }
    if (typing(event.target)) {
      if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        if (!event.repeat) form().requestSubmit();
      } else if (event.key === "Escape") event.target.blur();
      return;
    }
    const choices = form().querySelectorAll("[data-value]");
    const keys = {
      u: () => !document.querySelector("[data-do=undo]").disabled && done.undo(),
      " ": media.play,
      ArrowLeft: () => media.step(-1),
      ArrowRight: () => media.step(1),
      "?": () => (document.getElementById("terms").open = !document.getElementById("terms").open),
      Enter: () => form().querySelector(".save") && form().requestSubmit(),
    };
    if (/^[1-9]$/.test(event.key) && choices[event.key - 1]) keys[event.key] = () => choose(choices[event.key - 1]);
    if (!keys[event.key] || event.repeat && !event.key.startsWith("Arrow")) return;
    if (event.key === "Enter" && event.target.closest("button, summary")) return;
    event.preventDefault();
    keys[event.key]();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hidden = performance.now();
    else if (hidden !== null) away += performance.now() - hidden;
  });
  begun();
})();
