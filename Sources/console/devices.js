// The page Devices: who uses the gateways.

import { get } from "./api.js";
import { Page, button, h, link, notice, put, table, time } from "./dom.js";
import { address, ago, count } from "./model.js";

const SORTS = { seen: "Last seen", lag: "Lag", refused: "Refused", who: "Name" };

class Devices extends Page {
  heading = "Devices";
  clients = [];
  next = null;

  async start() {
    this.status = h("p", { class: "live muted", role: "status" });
    this.list = h("div", { class: "panel" });
    this.more = h("div", { class: "more" });
    put(this, this.head(this.status), this.list, this.more);
    await this.read(true);
  }

  refilter(query) {
    this.query = query;
    this.draw();
    this.querySelector(`[data-sort="${this.sort}"]`)?.focus();
    return true;
  }

  get sort() { return SORTS[this.query.sort] ? this.query.sort : "seen"; }

  async read(isFirst) {
    put(this.status, "Reading…");
    const answer = await get(`/v1/operations/clients?limit=500${isFirst ? "" : `&after=${encodeURIComponent(this.next)}`}`, { signal: this.signal });
    this.clients = [...(isFirst ? [] : this.clients), ...answer.clients];
    this.next = answer.next;
    this.draw();
  }

  draw() {
    const key = { seen: (one) => -Date.parse(one.seen), lag: (one) => -(one.lag ?? -1), refused: (one) => -one.refused, who: (one) => `${one.who} ${one.device}` }[this.sort];
    const sorted = [...this.clients].sort((one, other) => (key(one) < key(other) ? -1 : key(one) > key(other) ? 1 : 0));
    const head = (name, label) => link(label, address("devices", [], { sort: name === "seen" ? "" : name }), { "data-sort": name, "aria-current": this.sort === name ? "true" : null, class: "sort" });
    put(this.status, count(this.clients.length, "device") + (this.next ? " or more" : ""));
    put(this.list, sorted.length ? table("Devices", [head("who", "Who and device"), "Program", head("seen", "Last seen"), "Last revision", head("lag", "Lag"), head("refused", "Refused")], sorted.map((one) => h("tr", null,
      h("th", { scope: "row" }, one.who || h("span", { class: "none" }, "no name"), one.device ? h("small", { class: "block muted" }, one.device) : null),
      h("td", null, one.program ?? h("span", { class: "none" }, "unknown")),
      h("td", null, ago(one.seen), h("small", { class: "block muted" }, time(one.seen, "short"))),
      h("td", { class: "digits" }, one.revision === null ? h("span", { class: "none" }, "none") : String(one.revision)),
      h("td", null, one.lag === null ? h("span", { class: "none" }, "unknown") : one.lag === 0 ? "up to date" : `${count(Number(one.lag), "revision")}`),
      h("td", null, one.refused ? link(count(Number(one.refused), "push", "pushes"), address("refused", [], { who: one.who, device: one.device ?? "" })) : h("span", { class: "muted" }, "none")))), { quiet: true })
      : notice("info", h("p", null, "No device has used the gateways yet.")));
    put(this.more, this.next ? button("More devices", () => this.run(() => this.read(false))) : null);
  }
}

customElements.define("fm-devices", Devices);
