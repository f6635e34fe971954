"use strict";
// Tables that are sorted by a click on a column, and figures that say what is under the pointer.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const COLOURS = ["#222222", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"];
  const ROOM = { left: 58, right: 12, top: 10, bottom: 40 };

  const shown = (value) => (value === null ? "–" : Number(value.toPrecision(4)).toString());

  function element(name, attributes, parent) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (parent) parent.appendChild(made);
    return made;
  }

  function words(parent, text, attributes) {
    element("text", { "font-size": 12, fill: "#333", ...attributes }, parent).textContent = text;
  }

  // Round numbers within a range, about as many as wanted.
  function ticks(low, high, wanted) {
    const rough = (high - low) / wanted;
    const ten = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= rough);
    const found = [];
    for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(k * step);
    return found;
  }

  // The path of a line with gaps where there is no number.
  function line(x, y, X, Y) {
    let path = "", down = false;
    y.forEach((value, i) => {
      if (value === null) { down = false; return; }
      path += (down ? "L" : "M") + X(x[i]).toFixed(1) + " " + Y(value).toFixed(1);
      down = true;
    });
    return path;
  }

  function area(x, low, high, X, Y) {
    const good = x.map((_, i) => i).filter((i) => low[i] !== null && high[i] !== null);
    if (!good.length) return "";
    const at = (i, side) => X(x[i]).toFixed(1) + " " + Y(side[i]).toFixed(1);
    return "M" + good.map((i) => at(i, low)).join("L") + "L" + good.reverse().map((i) => at(i, high)).join("L") + "Z";
  }

  function axes(svg, curve, frame) {
    const { X, Y, width, height } = frame;
    const [low, high] = curve.view;
    for (const t of ticks(low, high, 6)) {
      element("line", { x1: ROOM.left, x2: width - ROOM.right, y1: Y(t), y2: Y(t), stroke: "#e6e6e6" }, svg);
      words(svg, shown(t), { x: ROOM.left - 6, y: Y(t) + 4, "text-anchor": "end" });
    }
    for (const t of ticks(curve.x[0], curve.x[curve.x.length - 1], width / 80)) {
      element("line", { x1: X(t), x2: X(t), y1: ROOM.top, y2: height - ROOM.bottom, stroke: "#eeeeee" }, svg);
      words(svg, shown(t), { x: X(t), y: height - ROOM.bottom + 16, "text-anchor": "middle" });
    }
    words(svg, curve.label, { x: (ROOM.left + width) / 2, y: height - 6, "text-anchor": "middle" });
    const middle = (height - ROOM.bottom + ROOM.top) / 2;
    words(svg, curve.stress, { x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` });
  }

  function layers(curve) {
    const found = [
      { name: "95 % band of data", colour: "#cfe3f2", area: [curve.data_low, curve.data_high] },
      { name: "95 % band of laws", colour: "#8fbfe0", area: [curve.laws_low, curve.laws_high] },
    ];
    curve.lines.forEach((each, i) => found.push({ name: each.name, colour: COLOURS[i % COLOURS.length], y: each.y, bold: i === 0 }));
    if (curve.points.length) found.push({ name: "measured", colour: "#222222", points: curve.points });
    return found;
  }

  function draw(box, curve, every, number) {
    const holder = box.querySelector(".plot");
    const width = Math.max(holder.clientWidth, 200), height = Math.round(Math.min(360, 0.72 * width));
    const first = curve.x[0], last = curve.x[curve.x.length - 1], [low, high] = curve.view;
    const X = (v) => ROOM.left + ((v - first) / (last - first)) * (width - ROOM.left - ROOM.right);
    const Y = (v) => height - ROOM.bottom - ((v - low) / (high - low)) * (height - ROOM.top - ROOM.bottom);
    const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": curve.title });
    axes(svg, curve, { X, Y, width, height });
    const clip = element("clipPath", { id: `clip${number}` }, element("defs", {}, svg));
    element("rect", { x: ROOM.left, y: ROOM.top, width: width - ROOM.left - ROOM.right, height: height - ROOM.top - ROOM.bottom }, clip);
    const inside = element("g", { "clip-path": `url(#clip${number})` }, svg);
    for (const each of every.filter((layer) => !layer.hidden)) {
      if (each.area) element("path", { d: area(curve.x, ...each.area, X, Y), fill: each.colour }, inside);
      if (each.y) element("path", { d: line(curve.x, each.y, X, Y), fill: "none", stroke: each.colour, "stroke-width": each.bold ? 2 : 1.3 }, inside);
      for (const [a, b] of each.points || []) element("circle", { cx: X(a), cy: Y(b), r: 3, fill: "white", stroke: each.colour, "stroke-width": 1.3 }, inside);
    }
    for (const border of curve.known || []) {
      element("line", { x1: X(border), x2: X(border), y1: ROOM.top, y2: height - ROOM.bottom, stroke: "#555", "stroke-dasharray": "2 3" }, svg);
    }
    const cross = element("line", { y1: ROOM.top, y2: height - ROOM.bottom, stroke: "#999", visibility: "hidden" }, svg);
    svg.addEventListener("pointermove", (event) => {
      const seen = svg.getBoundingClientRect();
      const at = first + (((event.clientX - seen.left) * width / seen.width - ROOM.left) / (width - ROOM.left - ROOM.right)) * (last - first);
      const i = curve.x.reduce((best, v, k) => (Math.abs(v - at) < Math.abs(curve.x[best] - at) ? k : best), 0);
      cross.setAttribute("x1", X(curve.x[i])); cross.setAttribute("x2", X(curve.x[i])); cross.setAttribute("visibility", "visible");
      const beyond = curve.known && (curve.x[i] < curve.known[0] || curve.x[i] > curve.known[1]) ? ", beyond the data" : "";
      box.querySelector(".readout").textContent = `${curve.label} ${shown(curve.x[i])}${beyond}: printed law ${shown(curve.lines[0].y[i])}, laws ${shown(curve.laws_low[i])} to ${shown(curve.laws_high[i])}, data ${shown(curve.data_low[i])} to ${shown(curve.data_high[i])}`;
    });
    holder.replaceChildren(svg);
  }

  function figure(parent, curve, number) {
    const box = document.createElement("figure");
    box.className = "curve";
    const title = document.createElement("figcaption"), holder = document.createElement("div");
    const readout = document.createElement("div"), key = document.createElement("div");
    title.textContent = curve.title;
    [holder.className, readout.className, key.className] = ["plot", "readout", "key"];
    box.append(title, holder, readout, key);
    parent.appendChild(box);
    const every = layers(curve), again = () => draw(box, curve, every, number);
    for (const each of every) {
      const button = document.createElement("button"), swatch = document.createElement("i");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      if (each.points) swatch.className = "dot";
      else swatch.style.background = each.colour;
      button.append(swatch, each.name);
      button.addEventListener("click", () => {
        each.hidden = !each.hidden;
        button.setAttribute("aria-pressed", String(!each.hidden));
        again();
      });
      key.appendChild(button);
    }
    again();
    let before = holder.clientWidth;
    window.addEventListener("resize", () => {
      if (holder.clientWidth !== before) { before = holder.clientWidth; again(); }
    });
  }

  function sortable(table) {
    const heads = [...table.rows[0].cells];
    const value = (row, column) => {
      const text = row.cells[column].textContent.trim(), number = parseFloat(text.replace("−", "-"));
      return Number.isNaN(number) ? text : number;
    };
    heads.forEach((head, column) => {
      head.tabIndex = 0;
      const sort = () => {
        const rising = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", rising ? "ascending" : "descending");
        const compare = (a, b) => {
          const [p, q] = [value(a, column), value(b, column)];
          if (typeof p === typeof q) return p < q ? -1 : p > q ? 1 : 0;
          return typeof p === "number" ? -1 : 1;
        };
        const rows = [...table.rows].slice(1).sort((a, b) => (rising ? compare(a, b) : compare(b, a)));
        rows.forEach((row) => row.parentNode.appendChild(row));
      };
      head.addEventListener("click", sort);
      head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
    });
  }

  document.querySelectorAll("table.sortable").forEach(sortable);
  const data = JSON.parse(document.getElementById("curves").textContent);
  data.forEach((curve, number) => figure(document.querySelector(".curves"), curve, number));
})();
