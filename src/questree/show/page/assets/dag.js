// DAGs of questions: cards in layers with edges between them, on a phone and on paper an indented tree; both fold.
// A page, a report and a notebook have the same cards; a page listens to `questree:chosen` and says `questree:show`
// (a model's errors) and `questree:go` (a node) to the element that holds a DAG.
import { Folding } from "./folding.js";
import { layered, path } from "./layered.js";

const SVG = "http://www.w3.org/2000/svg";
const narrow = matchMedia("print, (max-width: 600px)");

function made(name, className, text) {
  const found = document.createElement(name);
  found.className = className;
  found.textContent = text;
  return found;
}

function start(root) {
  const place = root.querySelector(".dag");
  const canvas = root.querySelector(".cards");
  const nodes = [...canvas.querySelectorAll(".node")].sort((a, b) => a.dataset.node - b.dataset.node);
  const graph = JSON.parse(root.dataset.graph);
  const folding = new Folding(nodes.length, graph.edges);
  const lines = document.createElementNS(SVG, "svg");
  lines.setAttribute("class", "ways");
  lines.setAttribute("aria-hidden", "true");
  const key = (parent, child) => `${parent}-${child}`;
  const number = (element) => Number(element.closest(".node").dataset.node);
  const card = (node) => nodes[node].querySelector(".card");

  const labels = new Map(); // edge -> its compositions; a pair of nodes is drawn once
  for (const [parent, child, label] of graph.edges) labels.set(key(parent, child), (labels.get(key(parent, child)) ?? new Set()).add(label));
  const label = (parent, child) => [...labels.get(key(parent, child))].join(", ");
  let model = graph.models[root.dataset.model];
  let scale = 1; // never less: the smallest text is 12 px at 1

  const among = (pairs, parent, child) => (pairs ?? []).some(([a, b]) => a === parent && b === child);
  const kind = (parent, child) => (among(model?.error, parent, child) ? "error" : "");

  function shape(className, d) {
    const found = document.createElementNS(SVG, "path");
    found.setAttribute("class", className);
    found.setAttribute("d", d);
    lines.append(found);
    return found;
  }

  function line(className, points, ends, aside = 0) {
    shape(`edge ${className}`, path(points, aside)).dataset.ends = ends;
    const head = ([x, y], up) => shape(`head ${className}`, `M${x + aside} ${y}l-4.5 ${-9 * up}h9Z`);
    head(points.at(-1), 1);
    if (aside) head(points[0], -1);
  }

  function layers(seen) {
    const edges = [];
    for (const parent of seen) {
      for (const child of folding.parts[parent].filter((part) => seen.has(part))) {
        const shown = made("span", `edge-label ${kind(parent, child)}`, label(parent, child));
        canvas.append(shown);
        shown.dataset.ends = key(parent, child);
        edges.push({ parent, child, shown });
      }
    }
    const boxes = new Map([...seen].map((node) => [node, { width: nodes[node].offsetWidth, height: nodes[node].offsetHeight }]));
    const found = layered(boxes, edges.map((edge) => ({ ...edge, width: edge.shown.offsetWidth })));
    for (const [node, { x, y }] of found.at) Object.assign(nodes[node].style, { left: `${x}px`, top: `${y}px` });
    edges.forEach(({ parent, child, shown }, at) => {
      const { points, label } = found.routes[at];
      line(kind(parent, child), points, key(parent, child));
      if (among(model?.contradiction, parent, child)) line("clash", points, key(parent, child), 6);
      Object.assign(shown.style, { left: `${label.x - shown.offsetWidth / 2}px`, top: `${label.y - shown.offsetHeight / 2}px` });
    });
    lines.setAttribute("width", found.width);
    lines.setAttribute("height", found.height);
    Object.assign(canvas.style, { width: `${found.width}px`, height: `${found.height}px`, zoom: scale });
  }

  // a node is written below its first whole; below others there is a way to it
  function tree(seen) {
    const written = new Set();
    const write = (node, parent, depth) => {
      const via = parent === null ? "" : label(parent, node);
      const marks = parent === null ? "" : `${kind(parent, node)} ${among(model?.contradiction, parent, node) ? "clash" : ""}`;
      const again = written.has(node);
      const shown = again ? made("button", "again", `${card(node).querySelector(".text").textContent} (above)`) : nodes[node];
      if (again) {
        shown.dataset.toNode = node;
        shown.prepend(made("span", `via ${marks}`, via));
      } else {
        Object.assign(nodes[node].querySelector(".via"), { textContent: via, className: `via ${marks}` });
      }
      shown.style.marginLeft = `${Math.min(depth, 8) * 14}px`;
      canvas.append(shown);
      written.add(node);
      if (!again) for (const part of folding.parts[node]) if (seen.has(part)) write(part, node, depth + 1);
    };
    write(0, null, 0);
  }

  function said(node, seen) {
    const hidden = folding.below(node, seen);
    if (!hidden.size) return folding.folds(node) ? "▾ fold" : "";
    const right = model && [...hidden].every((each) => model.right[each] === true);
    return `▸ ${hidden.size} ${right ? "right" : "more"}`;
  }

  function draw() {
    const seen = folding.seen();
    const focused = document.activeElement;
    canvas.querySelectorAll(".edge-label, .again").forEach((old) => old.remove());
    lines.replaceChildren();
    canvas.removeAttribute("style");
    canvas.classList.toggle("tree", narrow.matches);
    canvas.classList.toggle("placed", !narrow.matches);
    nodes.forEach((element, node) => {
      const text = seen.has(node) ? said(node, seen) : "";
      const fold = element.querySelector(".fold");
      element.removeAttribute("style");
      element.hidden = !seen.has(node);
      Object.assign(fold, { textContent: text, hidden: !text });
      fold.setAttribute("aria-expanded", String(text.startsWith("▾")));
      card(node).classList.toggle("wrong", model?.right[node] === false);
    });
    (narrow.matches ? tree : layers)(seen);
    if (canvas.contains(focused) && !focused.hidden) focused.focus({ preventScroll: true });
  }

  // what is unfolded stays where it is
  function toggle(node) {
    const before = nodes[node].getBoundingClientRect();
    folding.toggle(node);
    draw();
    const after = nodes[node].getBoundingClientRect();
    place.scrollBy(after.left - before.left, after.top - before.top);
  }

  function home() {
    const top = nodes[0].getBoundingClientRect();
    const whole = place.getBoundingClientRect();
    place.scrollTo(place.scrollLeft + top.left + top.width / 2 - whole.left - whole.width / 2, 0);
  }

  function begin() {
    const wrong = nodes.map((_, node) => node).filter((node) => model?.right[node] === false);
    folding.begin(new Set([...wrong, ...(model?.contradiction ?? []).flat()]));
    draw();
    home();
  }

  function show(name) {
    model = graph.models[name];
    root.dataset.errors = model?.error.length ?? 0;
    root.dataset.contradictions = model?.contradiction.length ?? 0;
    begin();
  }

  function choose(node) {
    nodes.forEach((_, at) => card(at).classList.toggle("chosen", at === node));
    root.dispatchEvent(new CustomEvent("questree:chosen", { bubbles: true, detail: { node, ...graph.lit?.[node] } }));
  }

  function goTo(node) {
    folding.reveal(node);
    draw();
    if (card(node).matches("button")) choose(node);
    nodes[node].querySelector("button:not([hidden])")?.focus();
    nodes[node].scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  function zoom(to) {
    scale = Math.min(Math.max(to, 1), 2);
    root.querySelector(".scale").textContent = `${Math.round(100 * scale)} %`;
    canvas.style.zoom = scale;
  }

  const all = () => {
    folding.unfoldAll();
    draw();
    home();
  };
  const tools = { start: begin, unfold: all, closer: () => zoom(scale + 0.25), farther: () => zoom(scale - 0.25) };
  for (const [name, act] of Object.entries(tools)) root.querySelector(`.${name}`).addEventListener("click", act);
  canvas.addEventListener("click", (event) => {
    const to = event.target.closest("[data-to-node]");
    const button = event.target.closest("button.card, .fold");
    if (to) goTo(Number(to.dataset.toNode));
    else if (button) (button.matches(".fold") ? toggle : choose)(number(button));
  });
  canvas.addEventListener("keydown", (event) => {
    if (!event.target.matches(".card") || !["+", "-"].includes(event.key)) return;
    const node = number(event.target);
    if (event.key === "+" ? folding.below(node, folding.seen()).size : folding.folds(node)) toggle(node);
  });
  place.addEventListener("wheel", (event) => {
    if (!event.ctrlKey || narrow.matches) return;
    event.preventDefault();
    zoom(scale * (event.deltaY < 0 ? 1.1 : 1 / 1.1));
  }, { passive: false });
  place.addEventListener("pointermove", (event) => { // the ground is dragged; fingers scroll by themselves
    if (event.buttons === 1 && event.pointerType === "mouse" && !event.target.closest(".node")) place.scrollBy(-event.movementX, -event.movementY);
  });
  root.addEventListener("questree:show", (event) => show(event.detail));
  root.addEventListener("questree:go", (event) => goTo(event.detail));
  narrow.addEventListener("change", draw);

  canvas.replaceChildren(lines, ...nodes);
  root.dataset.ready = "yes"; // before it is drawn: tools take room
  show(root.dataset.model);
  if (card(0).matches("button")) choose(0);
  // what is not to be seen yet has no size: it is drawn when it is
  if (!place.clientWidth) new ResizeObserver((_, watch) => place.clientWidth && (watch.disconnect(), begin())).observe(place);
}

for (const root of document.querySelectorAll(".questree-dag:not([data-ready])")) start(root);
