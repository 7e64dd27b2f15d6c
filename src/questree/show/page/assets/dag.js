// The DAG of a question: cytoscape lays out and draws the edges, the nodes are buttons of the page that lie above.
"use strict";

(() => {
  const place = document.getElementById("dag");
  const ground = document.getElementById("ground");
  const layer = document.getElementById("cards");
  const cards = [...layer.querySelectorAll(".card")];
  const graph = JSON.parse(place.dataset.graph);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const key = (parent, child) => `${parent}-${child}`;

  layer.classList.add("placed");
  const nodes = cards.map((card) => ({ data: { id: `n${card.dataset.node}`, width: card.offsetWidth, height: card.offsetHeight } }));
  const edges = graph.edges.map(([parent, child, label], at) => ({ data: { id: `e${at}`, source: `n${parent}`, target: `n${child}`, label, key: key(parent, child) } }));

  const style = () => [
    { selector: "node", style: { width: "data(width)", height: "data(height)", shape: "round-rectangle", "background-opacity": 0, "border-width": 0, events: "no" } },
    { selector: "edge", style: { "curve-style": "bezier", width: 1.4, "line-color": colour("--edge"), "target-arrow-shape": "triangle", "target-arrow-color": colour("--edge"), "arrow-scale": 0.8, "source-endpoint": "outside-to-node-or-label", label: "data(label)", "font-size": 11, color: colour("--soft"), "text-background-color": colour("--paper"), "text-background-opacity": 0.92, "text-background-padding": 2, "text-events": "no" } },
    { selector: "edge.error", style: { width: 3.4, "line-color": colour("--error"), "target-arrow-color": colour("--error"), color: colour("--error"), "z-index": 2 } },
    { selector: "edge.clash", style: { "curve-style": "unbundled-bezier", "control-point-distances": [26], "control-point-weights": [0.5], width: 2.4, "line-style": "dashed", "line-dash-pattern": [7, 4], "line-color": colour("--contradiction"), "target-arrow-color": colour("--contradiction"), "source-arrow-color": colour("--contradiction"), "source-arrow-shape": "triangle", label: "", "z-index": 3 } },
  ];

  const cy = cytoscape({ container: ground, elements: [...nodes, ...edges], style: style(), autoungrabify: true, boxSelectionEnabled: false, minZoom: 0.2, maxZoom: 1.6 });
  cy.layout({ name: "dagre", rankDir: "TB", nodeSep: 26, rankSep: 50, edgeSep: 14, fit: false, animate: false }).run();
  for (const card of cards) {
    const at = cy.getElementById(`n${card.dataset.node}`).position();
    card.style.left = `${at.x - card.offsetWidth / 2}px`;
    card.style.top = `${at.y - card.offsetHeight / 2}px`;
  }

  function follow() {
    const pan = cy.pan();
    layer.style.transform = `translate(${pan.x}px, ${pan.y}px) scale(${cy.zoom()})`;
  }
  cy.on("viewport", follow);

  function fit() {
    cy.fit(undefined, 26);
    if (cy.zoom() > 1) cy.zoom(1);
    cy.center();
  }
  function zoom(by) {
    cy.zoom({ level: cy.zoom() * by, renderedPosition: { x: ground.clientWidth / 2, y: ground.clientHeight / 2 } });
  }
  fit();
  document.getElementById("fit").addEventListener("click", fit);
  document.getElementById("closer").addEventListener("click", () => zoom(1.25));
  document.getElementById("farther").addEventListener("click", () => zoom(0.8));
  // over a card the wheel still means the picture below it
  layer.addEventListener("wheel", (event) => { event.preventDefault(); ground.querySelector("canvas").dispatchEvent(new WheelEvent("wheel", event)); }, { passive: false });

  function show(model) {
    const found = graph.models[model];
    cy.remove("edge.clash");
    cy.edges().removeClass("error");
    for (const card of cards) card.classList.toggle("wrong", Boolean(found) && found.right[Number(card.dataset.node)] === false);
    for (const part of document.querySelectorAll(".reason, .clashes")) part.hidden = part.dataset.model !== model;
    if (!found) return;
    const wrong = new Set(found.error.map(([parent, child]) => key(parent, child)));
    cy.edges().filter((edge) => wrong.has(edge.data("key"))).addClass("error");
    cy.add(found.contradiction.map(([parent, child], at) => ({ group: "edges", classes: "clash", data: { id: `c${at}`, source: `n${parent}`, target: `n${child}`, key: key(parent, child) } })));
    place.dataset.errors = wrong.size;
    place.dataset.contradictions = found.contradiction.length;
  }

  function choose(number) {
    for (const card of cards) card.classList.toggle("chosen", card.dataset.node === number);
    for (const article of document.querySelectorAll("#details article")) article.hidden = article.dataset.node !== number;
    document.getElementById("details").scrollTop = 0;
    document.dispatchEvent(new CustomEvent("questree:chosen", { detail: graph.lit[Number(number)] }));
  }

  for (const card of cards) card.addEventListener("click", () => choose(card.dataset.node));
  document.getElementById("details").addEventListener("click", (event) => {
    const to = event.target.closest("[data-to-node]");
    if (to) { choose(to.dataset.toNode); document.getElementById(`node-${to.dataset.toNode}`).focus({ preventScroll: true }); }
  });
  for (const input of document.querySelectorAll('input[name="show"]')) input.addEventListener("change", () => show(input.value));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => cy.style(style()));

  show(place.dataset.model);
  choose("0");
  place.dataset.ready = "yes";
})();
