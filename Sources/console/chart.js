// A bar chart for counts by minute, with a table of the same numbers.

import { h, svg, table } from "./dom.js";
import { niceMaximum } from "./model.js";

const WIDTH = 720, HEIGHT = 120, LEFT = 40, BOTTOM = 20, TOP = 8;
const clock = (date) => date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

/** A chart of `[{ at, value }]`. `format` makes a text of a value. */
export function chart(title, points, { look = "plain", format = String, least = 4, note } = {}) {
  const values = points.map((point) => point.value ?? 0);
  const top = niceMaximum(Math.max(0, ...values), least);
  const step = (WIDTH - LEFT) / points.length;
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const total = values.reduce((sum, value) => sum + value, 0);
  const summary = note ?? `${format(total)} in ${points.length} minutes`;
  const every = Math.max(1, Math.round(points.length / 4));
  return h("figure", { class: `chart ${look}` },
    h("figcaption", null, h("strong", null, title), h("span", { class: "muted" }, summary)),
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}: ${summary}` },
      [0, top / 2, top].map((value) => [
        svg("line", { x1: LEFT, x2: WIDTH, y1: y(value), y2: y(value), class: "grid" }),
        svg("text", { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, format(value)),
      ]),
      points.map((point, index) => (point.value ? svg("rect", {
        x: LEFT + index * step + step * 0.12, width: step * 0.76, y: Math.min(y(point.value), y(0) - 2), height: Math.max(2, y(0) - y(point.value)), rx: 1.5,
      }, svg("title", null, `${clock(point.at)}: ${format(point.value)}`)) : null)),
      points.map((point, index) => (index % every === 0 && index + every / 2 < points.length + 1 ? svg("text", { x: LEFT + index * step, y: HEIGHT - 4 }, clock(point.at)) : null))),
    h("details", null, h("summary", null, "Show as a table"), table(title, ["Minute", title], points.filter((point) => point.value).map((point) =>
      h("tr", null, h("th", { scope: "row" }, clock(point.at)), h("td", null, format(point.value)))), { quiet: true, class: "narrow" })));
}
