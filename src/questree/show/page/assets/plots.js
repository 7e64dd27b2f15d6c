// Plots of a page: data stands in the attributes of <figure class="plot">, and is drawn again when a part is replaced.
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
      const shown = points.filter((point) => (point.by === "type" && point.metric === "accuracy") || (point.by === "composition" && point.metric !== "RWR"));
      const label = (point) => (point.by === "type" ? "accuracy by type" : `${point.metric} by composition`);
      const panels = [...new Set(shown.map(label))];
      const columns = innerWidth > 1000 ? 2 : 1;
      const width = (figure.clientWidth - 42) / columns;
      const wide = document.createElement("div");
      wide.className = "panels";
      for (const panel of panels) {
        const rows = shown.filter((point) => label(point) === panel);
        wide.append(
          Plot.plot({
            width: Math.max(width - 24, 300),
            height: 40 + 20 * rows.length,
            marginLeft: 210,
            marginTop: 30,
            x: { label: panel, labelAnchor: "center", labelArrow: "none", axis: "top", grid: true, ticks: 4, tickFormat: (value) => `${value > 0 ? "+" : ""}${Math.round(100 * value)}` },
            y: { label: null, domain: rows.map((point) => point.group), tickSize: 0, padding: 0.4 },
            marks: [
              Plot.ruleX([0], { stroke: colour("--faint") }),
              Plot.ruleY(rows, { y: "group", x1: "low", x2: "high", stroke: (d) => tone(d), strokeWidth: 2, strokeOpacity: 0.6 }),
              Plot.dot(rows, { y: "group", x: "difference", stroke: (d) => tone(d), fill: (d) => (d.differs ? tone(d) : colour("--paper")), r: 4, title: (d) => `${d.group}: ${(100 * d.difference).toFixed(1)} points` }),
            ],
          })
        );
      }
      return wide;
    },
  };

  function tone(point) {
    if (!point.differs) return colour("--faint");
    if (["Delta", "RWR"].includes(point.metric)) return colour("--accent"); // more is neither better nor worse
    return point.difference > 0 ? colour("--right") : colour("--error");
  }

  function draw() {
    for (const figure of document.querySelectorAll("figure.plot:not([data-drawn])")) {
      figure.dataset.drawn = "yes";
      figure.append(plots[figure.dataset.plot](figure, JSON.parse(figure.dataset.points)));
    }
  }

  draw();
  new MutationObserver(draw).observe(document.body, { childList: true, subtree: true });
})();
