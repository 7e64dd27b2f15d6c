// Places of cards in layers, by dagre, and the ways of edges between them.
// Through a layer of cards or of labels an edge runs straight down, where dagre keeps it clear of what lies there;
// it bends only between layers. So no edge passes behind a card that is not its own, nor through a label.

const LABEL = 20; // height of a layer of labels
const MARGIN = 20;
const STUB = 10; // an edge is straight where it leaves or enters a card
const INSET = 22; // of the outermost edge at a card from its corner

function arranged(boxes, edges) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 28, edgesep: 24, ranksep: 64, marginx: MARGIN, marginy: MARGIN });
  for (const [node, box] of boxes) graph.setNode(String(node), { ...box });
  for (const { parent, child, width } of edges) graph.setEdge(String(parent), String(child), { width, height: LABEL, labelpos: "c" });
  dagre.layout(graph);
  return graph;
}

// [{ y, top, bottom }] of all that lies at one height
function layers(graph) {
  const found = new Map();
  const add = (y, height) => found.set(Math.round(y), Math.max(height, found.get(Math.round(y)) ?? 0));
  for (const node of graph.nodes()) add(graph.node(node).y, graph.node(node).height);
  for (const edge of graph.edges()) for (const { y } of graph.edge(edge).points.slice(1, -1)) add(y, LABEL);
  return new Map([...found].map(([y, height]) => [y, { top: y - height / 2, bottom: y + height / 2 }]));
}

// where edges leave or enter a card: side by side, in the order of where they go
function ports(ends, at) {
  const found = new Map();
  for (const node of new Set(ends.map(({ node }) => node))) {
    const own = ends.filter((end) => end.node === node).sort((a, b) => a.toward - b.toward);
    const { x, width } = at.get(node);
    const step = (width - 2 * INSET) / (own.length + 1);
    own.forEach((end, place) => found.set(end.edge, x + INSET + step * (place + 1)));
  }
  return found;
}

// [x, y] from the lower border of the parent to the upper border of the child, without bends inside layers
function stops(inner, from, to, bands) {
  const through = inner.flatMap(({ x, y }) => {
    const { top, bottom } = bands.get(Math.round(y));
    return [[x, top], [x, bottom]];
  });
  return [[from.x, from.y], [from.x, from.layer + STUB], ...through, [to.x, to.y - STUB], [to.x, to.y]];
}

export function path(points, aside = 0) {
  const at = ([x, y]) => `${x + aside} ${y}`;
  let found = `M${at(points[0])}`;
  for (let place = 1; place < points.length; place++) {
    const [before, here] = [points[place - 1], points[place]];
    const middle = (before[1] + here[1]) / 2;
    found += before[0] === here[0] ? `L${at(here)}` : `C${at([before[0], middle])} ${at([here[0], middle])} ${at(here)}`;
  }
  return found;
}

// boxes: node -> { width, height }; edges: [{ parent, child, width of its label }], each pair once
export function layered(boxes, edges) {
  const graph = arranged(boxes, edges);
  const bands = layers(graph);
  const at = new Map();
  for (const [node, { width, height }] of boxes) {
    const { x, y } = graph.node(String(node));
    const band = bands.get(Math.round(y));
    at.set(node, { x: x - width / 2, y: band.top, width, height, layer: band.bottom });
  }
  const drawn = edges.map((edge) => graph.edge(String(edge.parent), String(edge.child)));
  const inner = drawn.map(({ points }) => points.slice(1, -1));
  const leaving = ports(edges.map(({ parent }, edge) => ({ edge, node: parent, toward: inner[edge][0].x })), at);
  const entering = ports(edges.map(({ child }, edge) => ({ edge, node: child, toward: inner[edge].at(-1).x })), at);
  const routes = edges.map(({ parent, child }, edge) => {
    const [above, below] = [at.get(parent), at.get(child)];
    const from = { x: leaving.get(edge), y: above.y + above.height, layer: above.layer };
    return { points: stops(inner[edge], from, { x: entering.get(edge), y: below.y }, bands), label: { x: drawn[edge].x, y: drawn[edge].y } };
  });
  return { width: graph.graph().width, height: graph.graph().height, at, routes };
}
