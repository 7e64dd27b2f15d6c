// What to look at: a film or frames with a timeline below, or images of which one can be enlarged.
"use strict";

window.questreeMedia = (() => {
  const PACE = 500; // milliseconds that a frame is seen
  const THUMB = 76; // pixels of the timeline for one small frame
  const HIGH = 56;
  let playing = null;
  let frames = []; // [seconds, address]
  let length = 0;

  const film = () => document.getElementById("film");
  const still = () => document.getElementById("still");
  const time = () => document.getElementById("time");
  const strip = () => document.getElementById("strip");
  const images = () => [...document.querySelectorAll("[data-image]")];
  const now = () => (film() ? film().currentTime : Number(time().value));
  const at = (second) => Math.max(frames.findLastIndex((one) => one[0] <= second + 0.001), 0);

  const away = (frame, second) => Math.abs(frames[frame][0] - second);
  const nearest = (second) => (frames[at(second) + 1] && away(at(second) + 1, second) < away(at(second), second) ? at(second) + 1 : at(second));

  function shape(name, attributes, text = "") {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  }

  // seconds below, a mark for every frame, small frames where there is room, and a line where one is
  function drawn() {
    const wide = strip().clientWidth;
    const x = (second) => (length ? (second / length) * wide : 0);
    const svg = shape("svg", { width: wide, height: HIGH + 16 });
    let free = 0;
    for (const [second, address] of frames) {
      svg.append(shape("line", { class: "tick", x1: x(second), x2: x(second), y1: HIGH - 5, y2: HIGH }));
      if (x(second) < free || x(second) + THUMB > wide) continue;
      svg.append(shape("image", { href: `${address}?small`, x: x(second), y: 0, width: THUMB - 4, height: HIGH - 6 }));
      free = x(second) + THUMB;
    }
    const gap = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600].find((each) => x(each) > 44) ?? 1800;
    for (let second = 0; second <= length; second += gap) {
      const anchor = second === 0 ? "start" : x(second) > wide - 20 ? "end" : "middle";
      svg.append(shape("text", { x: x(second), y: HIGH + 13, "text-anchor": anchor }, `${second} s`));
    }
    svg.append(shape("line", { class: "axis", x1: 0, x2: wide, y1: HIGH, y2: HIGH }));
    svg.append(shape("line", { class: "here", x1: 0, x2: 0, y1: 0, y2: HIGH }));
    strip().replaceChildren(svg);
    moved();
  }

  function moved() {
    if (!time()) return;
    const place = length ? (now() / length) * strip().clientWidth : 0;
    const line = strip().querySelector(".here");
    for (const end of ["x1", "x2"]) line?.setAttribute(end, place);
    const which = film() ? "" : `frame ${at(now()) + 1} of ${frames.length}, `;
    const told = `${which}${now().toFixed(1)} of ${length.toFixed(1)} s`;
    document.getElementById("clock").textContent = told;
    time().setAttribute("aria-valuetext", told);
    if (film()) time().value = now();
  }

  function go(second) {
    const wanted = Math.min(Math.max(second, 0), length);
    if (film()) film().currentTime = wanted;
    else show(nearest(wanted));
  }

  function show(frame) {
    const wanted = Math.min(Math.max(frame, 0), frames.length - 1);
    time().value = frames[wanted][0];
    still().src = frames[wanted][1];
    still().alt = `frame ${wanted + 1} of ${frames.length}`;
    still().dataset.frame = wanted;
    if (frames[wanted + 1]) new Image().src = frames[wanted + 1][1]; // the next one is there when it is wanted
    moved();
  }

  function stop() {
    clearInterval(playing);
    playing = null;
  }

  function play() {
    const last = frames.length - 1;
    if (film()) film().paused ? film().play() : film().pause();
    else if (playing !== null) stop();
    else if (still()) {
      if (at(now()) === last) show(0);
      playing = setInterval(() => (at(now()) === last ? stop() : show(at(now()) + 1)), PACE);
    }
  }

  function enlarge(image) {
    const large = image.getAttribute("aria-pressed") !== "true";
    for (const other of images()) other.setAttribute("aria-pressed", String(other === image && large));
  }

  function step(by) {
    if (film()) go(now() + by);
    else if (still()) show(at(now()) + by);
    else if (images().length) {
      const here = images().findIndex((one) => one.getAttribute("aria-pressed") === "true");
      const next = images()[Math.min(Math.max(here + by, 0), images().length - 1)];
      if (next.getAttribute("aria-pressed") !== "true") enlarge(next);
      next.scrollIntoView({ block: "nearest" });
    }
  }

  function begun() {
    stop();
    if (!strip()) return;
    frames = JSON.parse(strip().dataset.frames);
    length = Number(strip().dataset.length);
    drawn();
    if (still()) show(0);
    const known = () => {
      length = film().duration || 0;
      time().max = length;
      drawn();
    };
    film()?.addEventListener("loadedmetadata", known);
    film()?.addEventListener("timeupdate", moved);
    film()?.addEventListener("seeked", moved);
    if (film()?.readyState) known();
  }

  document.addEventListener("input", (event) => event.target.id === "time" && go(Number(event.target.value)));
  document.addEventListener("click", (event) => {
    const image = event.target.closest("[data-image]");
    if (image) enlarge(image);
    if (!strip()?.contains(event.target)) return;
    const box = strip().getBoundingClientRect();
    go(((event.clientX - box.left) / box.width) * length);
  });
  addEventListener("resize", () => strip() && drawn());
  return { begun, play, step, stop };
})();
