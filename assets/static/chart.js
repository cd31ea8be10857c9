// Charts: uPlot draws the numbers of the table beside a chart in place of its SVG, with the value under the
// pointer or finger. Without this script the SVG stays. The table is for everybody.
(() => {
  "use strict";
  // What a page says in its language, by the English words.
  const say = (words) => JSON.parse(document.body.dataset.texts || "{}")[words] ?? words;
  const drawn = new Map();
  const scheme = matchMedia("(prefers-color-scheme: dark)");

  // The numbers of a table: names of rows and their counts.
  const read = (chart) => {
    const rows = [...document.getElementById(chart.dataset.plot).tBodies[0].rows];
    const names = rows.map((row) => row.cells[0].textContent.trim());
    const counts = rows.map((row) => Number(row.cells[1].textContent.replace(/\D/g, "")));
    const bars = Number(chart.dataset.bars);
    while (counts.length < bars) counts.push(null);
    const top = Number(chart.querySelector(".y span").textContent.replace(/\D/g, ""));
    const rules = [...chart.querySelectorAll(".y span")].map((rule) => Number(rule.textContent.replace(/\D/g, "")));
    const labels = [...chart.querySelectorAll(".x span")].map((label) => label.textContent);
    return { names, counts, bars, top, rules, labels, every: Number(chart.dataset.every), now: Number(chart.dataset.now) / 10 };
  };

  // The colours of the SVG, which follow the style sheet.
  const colours = (chart) => {
    const of = (css, property) => getComputedStyle(chart.querySelector(css))[property];
    return { fill: of(".bars rect", "fill"), line: of(".rule", "stroke"), soft: getComputedStyle(chart).color, now: of(".now", "stroke") };
  };

  // Where labels would touch, every second one is left out.
  const shown = (labels, width) => labels.map((label, at) => (width / labels.length < 52 && at % 2 ? "" : label));

  const options = (chart, numbers) => {
    const { fill, line, soft, now } = colours(chart);
    const font = `12px ${getComputedStyle(document.body).fontFamily}`;
    const axis = { stroke: soft, font, ticks: { show: false } };
    return {
      width: chart.clientWidth || 300,
      height: chart.clientHeight || 170,
      padding: [8, 20, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: { x: { time: false, range: () => [0, numbers.bars] }, y: { range: () => [0, numbers.top] } },
      series: [{}, { fill, stroke: fill, width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.8, 64], align: 1 }) }],
      axes: [
        { ...axis, size: 24, gap: 4, grid: { show: false }, splits: () => numbers.labels.map((_, at) => at * numbers.every), values: (plot) => shown(numbers.labels, plot.width) },
        { ...axis, size: 36, gap: 6, grid: { stroke: line, width: 1 }, splits: () => [...numbers.rules].reverse(), values: (_, splits) => splits.map((value) => value.toLocaleString("en")) },
      ],
      hooks: { setCursor: [tell], draw: [(plot) => mark(plot, now)] },
    };
  };

  // Marks where it is now.
  function mark(plot, colour) {
    const { ctx, bbox } = plot;
    const at = Math.round(plot.valToPos(plot.numbers?.now ?? 0, "x", true));
    ctx.save();
    ctx.fillStyle = colour;
    if (at > bbox.left) ctx.fillRect(at, bbox.top, devicePixelRatio, bbox.height);
    ctx.restore();
  }

  // Says what is under the pointer.
  function tell(plot) {
    const line = plot.root.querySelector(".plot-value");
    const { idx, left } = plot.cursor;
    const numbers = plot.numbers;
    const at = left >= 0 ? Math.floor(plot.posToVal(left, "x")) : idx;
    const isThere = left >= 0 && at >= 0 && at < numbers.names.length;
    line.textContent = isThere ? `${numbers.names[at]}: ${say("# arrived").replace("#", numbers.counts[at].toLocaleString(document.documentElement.lang))}` : "";
  }

  const data = ({ counts }) => [counts.map((_, at) => at), counts];

  const make = (chart, numbers) => {
    const plot = new uPlot(options(chart, numbers), data(numbers));
    plot.numbers = numbers;
    plot.redraw();
    const line = document.createElement("p");
    line.className = "plot-value";
    plot.root.append(line);
    plot.root.setAttribute("role", "img");
    // A finger that moves along the chart points at bars as a mouse does.
    plot.over.addEventListener("touchmove", (event) => {
      const { left, top } = plot.over.getBoundingClientRect();
      const [touch] = event.touches;
      plot.setCursor({ left: touch.clientX - left, top: touch.clientY - top });
    }, { passive: true });
    return plot;
  };

  const draw = (chart) => {
    const id = chart.dataset.plot;
    const numbers = read(chart);
    let plot = drawn.get(id);
    const isOther = plot && `${plot.numbers.labels} ${plot.numbers.rules}` !== `${numbers.labels} ${numbers.rules}`;
    if (isOther) { plot.destroy(); drawn.delete(id); plot = undefined; }
    const words = chart.querySelector("svg").getAttribute("aria-label");
    if (plot) {
      plot.numbers = numbers;
      plot.setData(data(numbers));
    } else {
      plot = make(chart, numbers);
      drawn.set(id, plot);
    }
    plot.root.setAttribute("aria-label", words);
    chart.append(plot.root);
    chart.classList.add("drawn");
    watcher.observe(chart);
    tell(plot);
  };

  const watcher = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const plot = drawn.get(target.dataset.plot);
      if (!plot || !target.isConnected) { watcher.unobserve(target); continue; }
      const size = { width: target.clientWidth, height: target.clientHeight };
      if (size.width && (size.width !== plot.width || size.height !== plot.height)) plot.setSize(size);
    }
  });

  const drawAll = () => {
    for (const chart of document.querySelectorAll("[data-plot]:not(.drawn)")) draw(chart);
  };
  scheme.addEventListener("change", () => {
    for (const [id, plot] of drawn) { plot.destroy(); drawn.delete(id); }
    for (const chart of document.querySelectorAll("[data-plot]")) draw(chart);
  });

  // A part that is renewed keeps what was opened in it.
  let opened = [];
  document.addEventListener("htmx:sseBeforeMessage", (event) => {
    opened = [...event.target.querySelectorAll("details[id][open]")].map((one) => one.id);
  });
  document.addEventListener("htmx:sseMessage", () => {
    for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
    drawAll();
  });
  drawAll();
})();
