// The DAG of a question: cards in layers with edges between them, on a narrow screen an indented tree; both fold.
import { Folding } from "./folding.js";
import { layered, path } from "./layered.js";

const place = document.getElementById("dag");
const canvas = document.getElementById("cards");
const details = document.getElementById("details");
const nodes = [...canvas.querySelectorAll(".node")];
const graph = JSON.parse(place.dataset.graph);
const folding = new Folding(nodes.length, graph.edges);
const narrow = matchMedia("(max-width: 600px)");
const svg = canvas.querySelector("svg");
const lines = svg.querySelector("g");
const key = (parent, child) => `${parent}-${child}`;
const number = (element) => Number(element.closest(".node").dataset.node);
const card = (node) => nodes[node].querySelector(".card");

const labels = new Map(); // edge -> its compositions; a pair of nodes is drawn once
for (const [parent, child, label] of graph.edges) labels.set(key(parent, child), (labels.get(key(parent, child)) ?? new Set()).add(label));
const label = (parent, child) => [...labels.get(key(parent, child))].join(", ");
let model = graph.models[place.dataset.model];
let scale = 1; // never less: the smallest text is 12 px at 1

function made(name, className, text) {
  const found = document.createElement(name);
  found.className = className;
  found.textContent = text;
  return found;
}

const among = (pairs, parent, child) => (pairs ?? []).some(([a, b]) => a === parent && b === child);
const kind = (parent, child) => (among(model?.error, parent, child) ? "error" : "");

function line(className, d) {
  const found = document.createElementNS("http://www.w3.org/2000/svg", "path");
  found.setAttribute("class", className);
  found.setAttribute("d", d);
  lines.append(found);
  return found;
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
    line(`edge ${kind(parent, child)}`, path(points)).dataset.ends = key(parent, child);
    if (among(model?.contradiction, parent, child)) line("edge clash", path(points, 6)).dataset.ends = key(parent, child);
    Object.assign(shown.style, { left: `${label.x - shown.offsetWidth / 2}px`, top: `${label.y - shown.offsetHeight / 2}px` });
  });
  svg.setAttribute("width", found.width);
  svg.setAttribute("height", found.height);
  Object.assign(canvas.style, { width: `${found.width}px`, height: `${found.height}px` });
}

// a node is written below its first whole; below others there is a way to it
function tree(seen) {
  const written = new Set();
  const write = (node, parent, depth) => {
    const via = parent === null ? "" : label(parent, node);
    const marks = parent === null ? "" : `${kind(parent, node)} ${among(model?.contradiction, parent, node) ? "clash" : ""}`;
    const again = written.has(node);
    const shown = again ? made("button", "again plain", `${card(node).querySelector(".text").textContent} (above)`) : nodes[node];
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
  for (const old of canvas.querySelectorAll(".edge-label, .again")) old.remove();
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
  if (!narrow.matches) canvas.style.zoom = scale;
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
  for (const part of document.querySelectorAll(".reason, .clashes")) part.hidden = part.dataset.model !== name;
  place.dataset.errors = model?.error.length ?? 0;
  place.dataset.contradictions = model?.contradiction.length ?? 0;
  begin();
}

function choose(node) {
  nodes.forEach((_, at) => card(at).classList.toggle("chosen", at === node));
  for (const article of details.querySelectorAll("article")) article.hidden = Number(article.dataset.node) !== node;
  details.scrollTop = 0;
  document.dispatchEvent(new CustomEvent("questree:chosen", { detail: graph.lit[node] }));
}

function goTo(node) {
  folding.reveal(node);
  draw();
  choose(node);
  card(node).focus();
}

function zoom(to) {
  scale = Math.min(Math.max(to, 1), 2);
  document.getElementById("scale").textContent = `${Math.round(100 * scale)} %`;
  canvas.style.zoom = scale;
}

document.getElementById("dag-section").addEventListener("click", (event) => {
  const to = event.target.closest("[data-to-node]");
  const button = event.target.closest(".card, .fold");
  if (to) goTo(Number(to.dataset.toNode));
  else if (button) (button.matches(".fold") ? toggle : choose)(number(button));
});
canvas.addEventListener("keydown", (event) => {
  if (!event.target.matches(".card") || !["+", "-"].includes(event.key)) return;
  const node = number(event.target);
  if (event.key === "+" ? folding.below(node, folding.seen()).size : folding.folds(node)) toggle(node);
});
const tools = { start: begin, unfold: () => { folding.unfoldAll(); draw(); home(); }, closer: () => zoom(scale + 0.25), farther: () => zoom(scale - 0.25) };
for (const [id, act] of Object.entries(tools)) document.getElementById(id).addEventListener("click", act);
place.addEventListener("wheel", (event) => {
  if (!event.ctrlKey || narrow.matches) return;
  event.preventDefault();
  zoom(scale * (event.deltaY < 0 ? 1.1 : 1 / 1.1));
}, { passive: false });
place.addEventListener("pointermove", (event) => { // the ground is dragged; fingers scroll by themselves
  if (event.buttons === 1 && event.pointerType === "mouse" && !event.target.closest("button")) place.scrollBy(-event.movementX, -event.movementY);
});
for (const input of document.querySelectorAll('input[name="show"]')) input.addEventListener("change", () => show(input.value));
narrow.addEventListener("change", draw);

show(place.dataset.model);
choose(0);
place.dataset.ready = "yes";
