// Plots of a page: data stands in the attributes of <figure class="plot">, and is drawn again when a part is replaced or resized.
"use strict";

(() => {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const percent = (value) => `${Math.round(100 * value)} %`;

  const plots = {
    numbers(figure, points) {
      const judged = points.some((point) => "model" in point);
      const models = JSON.parse(figure.dataset.models);
      const width = Math.max(figure.clientWidth - 26, 210);
      const among = new Map(points.map((point) => [point.number, point.n])); // n of the last model: they differ where one is silent
      const few = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
      const tick = (number) => (among.has(number) ? `${number}\n${few.format(among.get(number))}` : "");
      const common = { width, height: 168, marginLeft: 46, marginBottom: 50, marginTop: 20, style: { fontSize: "12px" } };
      const x = { label: `${figure.dataset.label}, and n below`, labelAnchor: "center", labelArrow: "none", ticks: [...among.keys()], tickFormat: tick };
      if (!judged)
        return Plot.plot({ ...common, x: { ...x, interval: 1 }, y: { label: "questions", grid: true, ticks: 3, tickFormat: "s" }, marks: [Plot.rectY(points, { x: "number", y: "n", fill: colour("--accent") }), Plot.ruleY([0])] });
      const told = (d) => `${d.model}, ${d.number} ${figure.dataset.label}: ${percent(d.right)} of ${d.n}${"low" in d ? `, 95 % interval ${percent(d.low)} to ${percent(d.high)}` : ""}`;
      const beside = (d) => d.number + 0.12 * (models.indexOf(d.model) - (models.length - 1) / 2) * (models.length < 8);
      return Plot.plot({
        ...common,
        x: { ...x, inset: 10 },
        y: { label: "right", domain: [0, 1], grid: true, ticks: 3, tickFormat: percent },
        color: { domain: models, range: models.map((_, at) => colour(`--model-${at % 6}`)) },
        marks: [
          Plot.ruleX(points.filter((d) => "low" in d), { x: beside, y1: "low", y2: "high", stroke: "model", strokeWidth: 2, strokeOpacity: 0.5 }),
          Plot.line(points, { x: beside, y: "right", z: "model", stroke: "model", strokeWidth: 1.8 }),
          Plot.dot(points, { x: beside, y: "right", z: null, fill: "model", r: 2.6, title: told }),
        ],
      });
    },

    differences(figure, points) {
      const shown = points.filter((point) => (point.by === "type" && point.metric === "question accuracy") || (point.by === "type" && point.metric === "RWR") || point.by === "composition");
      const label = (point) => `${point.metric} by ${point.by}`;
      const panels = [...new Set(shown.map(label))];
      const columns = innerWidth > 1000 ? 2 : 1;
      const small = innerWidth <= 600;
      const width = (figure.clientWidth - 42) / columns;
      const wide = document.createElement("div");
      wide.className = "panels";
      for (const panel of panels) {
        const rows = shown.filter((point) => label(point) === panel);
        wide.append(
          Plot.plot({
            width: Math.max(width - 24, 300),
            height: 44 + (small ? 34 : 22) * rows.length,
            marginLeft: small ? 128 : 218,
            marginTop: 34,
            style: { fontSize: "12px" },
            x: { label: panel, labelAnchor: "center", labelArrow: "none", axis: "top", grid: true, ticks: small ? 3 : 4, tickFormat: (value) => `${value > 0 ? "+" : ""}${Math.round(100 * value)}` },
            y: { label: null, axis: null, domain: rows.map((point) => point.group), padding: 0.4 },
            marks: [
              Plot.axisY({ tickSize: 0, lineWidth: small ? 9 : 20 }),
              Plot.ruleX([0], { stroke: colour("--faint") }),
              Plot.ruleY(rows, { y: "group", x1: "low", x2: "high", stroke: (d) => tone(d), strokeWidth: 2, strokeOpacity: 0.6 }),
              Plot.dot(rows, { y: "group", x: "difference", stroke: (d) => tone(d), fill: (d) => (d.differs ? tone(d) : colour("--paper")), r: 4, title: (d) => `${d.group}: ${(100 * d.difference).toFixed(1)} points` }),
            ],
          })
        );
      }
      return wide;
    },

    consistency(figure, points) {
      const value = (metric, group) => points.find((point) => point.by === "type" && point.metric === metric && point.group === group);
      const groups = [...new Set(points.map((point) => point.group))].filter((group) => group !== "Overall" && value("IC", group) && value("question accuracy", group));
      if (!groups.length) return document.createTextNode("No type has both.");
      const at = (side) => groups.map((group) => ({ group, side, x: value("question accuracy", group)[side], y: value("IC", group)[side] }));
      const [first, second] = [at("a"), at("b")];
      const axis = { domain: [0, 1], grid: true, ticks: 5, tickFormat: percent, labelAnchor: "center", labelArrow: "none" };
      const told = (d) => `${d.group}, ${figure.dataset[d.side]}: question accuracy ${percent(d.x)}, IC ${percent(d.y)}`;
      const joined = groups.map((_, each) => ({ x1: first[each].x, y1: first[each].y, x2: second[each].x, y2: second[each].y }));
      const wide = Math.min(Math.max(figure.clientWidth - 40, 280), 760);
      const plot = Plot.plot({
        width: wide,
        height: Math.min(wide, 460),
        marginLeft: 66,
        marginBottom: 44,
        marginTop: 20,
        inset: 8,
        style: { fontSize: "12px" },
        x: { ...axis, label: "question accuracy" },
        y: { ...axis, label: "internal consistency (IC)" },
        marks: [
          Plot.link(joined, { x1: "x1", y1: "y1", x2: "x2", y2: "y2", stroke: colour("--faint") }),
          Plot.dot(first, { x: "x", y: "y", fill: colour("--model-0"), r: 5, title: told }),
          Plot.dot(second, { x: "x", y: "y", fill: colour("--model-1"), symbol: "triangle", r: 6, title: told }),
        ],
      });
      named(plot, [...second, ...first], wide);
      return plot;
    },
  };

  // names beside their points, where there is room: none lies on another name or on a point
  function named(plot, points, width) {
    const [x, y] = [plot.scale("x"), plot.scale("y")];
    const spots = points.map((point) => ({ ...point, left: x.apply(point.x), top: y.apply(point.y) }));
    const taken = spots.map(({ left, top }) => ({ left: left - 7, right: left + 7, top: top - 7, bottom: top + 7 }));
    const done = new Set();
    for (const { group, left, top } of spots) {
      const long = 7 * group.length;
      const places = [[left + 10, top - 7], [left - 10 - long, top - 7], [left - long / 2, top - 23], [left - long / 2, top + 9]];
      for (const [from, above] of places) {
        const box = { left: from, right: from + long, top: above, bottom: above + 14 };
        const free = box.left > 68 && box.right < width && box.top > 0 && !taken.some((other) => box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom);
        if (!free || done.has(group)) continue;
        const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
        for (const [name, value] of Object.entries({ x: from, y: above + 11, class: "name", "text-anchor": "start" })) text.setAttribute(name, value);
        text.textContent = group;
        plot.append(text);
        taken.push(box);
        done.add(group);
      }
    }
  }

  function tone(point) {
    if (!point.differs) return colour("--faint");
    if (["Delta", "RWR"].includes(point.metric)) return colour("--accent"); // more is neither better nor worse
    return point.difference > 0 ? colour("--right") : colour("--error");
  }

  const drawn = new WeakMap(); // figure -> its plot, and how wide the figure was

  function drawIn(figure) {
    drawn.get(figure)?.plot.remove();
    const plot = plots[figure.dataset.plot](figure, JSON.parse(figure.dataset.points));
    drawn.set(figure, { plot, width: figure.clientWidth });
    figure.append(plot);
    for (const named of figure.querySelectorAll("g[aria-label]")) named.removeAttribute("aria-label"); // "line", "dot": no names
  }

  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries)
      if (target.clientWidth && target.clientWidth !== drawn.get(target).width) drawIn(target);
  });

  function draw() {
    for (const figure of document.querySelectorAll("figure.plot:not([data-drawn])")) {
      figure.dataset.drawn = "yes";
      drawIn(figure);
      resized.observe(figure);
    }
  }

  draw();
  new MutationObserver(draw).observe(document.body, { childList: true, subtree: true });
})();
