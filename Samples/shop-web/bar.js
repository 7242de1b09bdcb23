import { h } from "./dom.js";
import { spelled } from "./people.js";

const many = (count, one) => `${count} ${one}${count === 1 ? "" : "s"}`;
const clock = (moment) => new Date(moment).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

/** The status in a sentence. */
export function sentence({ phase, unsent, lastSynced, nextTry, message, problem }, isOn) {
  const waits = unsent ? `${many(unsent, "change")} ${unsent === 1 ? "waits" : "wait"} on this device` : "";
  if (phase === "closed") return "Signed out.";
  if (phase === "needsUpgrade") return message ?? "A newer version of this app is needed.";
  if (phase === "needsAuth") return "Please sign in.";
  if (!isOn) return waits ? `Network off. ${waits}.` : "Network off.";
  if (phase === "offline" || !navigator.onLine) return waits ? `No network. ${waits}.` : "No network.";
  if (phase === "waiting") return `The shop does not respond${problem?.code === "storage" ? " (this device is full)" : ""}. ${waits ? `${waits}. ` : ""}${nextTry ? `Next try at ${clock(nextTry)}.` : ""}`.trim();
  if (unsent) return `Sending ${many(unsent, "change")}…`;
  return lastSynced ? "All changes saved." : "Connecting…";
}

/** The bar at the top with user, status and sign-out, and the switch of the demo. */
export class Bar {
  #network; #store; #meetings; #status; #switch; #look; #text = "";

  constructor({ user, store, network, meetings, signOut }) {
    this.#meetings = meetings;
    this.#network = network;
    this.#store = store;
    this.#status = h("p", { class: "status", role: "status" });
    this.#switch = h("button", { type: "button", role: "switch", class: "switch", title: "For this demo: act as if this device had no network", onclick: () => { network.isOn = !network.isOn; } },
      h("span", { class: "track", "aria-hidden": "true" }), "Network");
    this.demo = h("aside", { class: "demo", "aria-label": "Demo" }, h("span", { "aria-hidden": "true" }, "Demo"), this.#switch);
    this.#look = h("a", { class: "look", href: "#/look" });
    this.element = h("header", { class: "bar" },
      h("h1", { class: "brand" }, h("a", { href: "#/", "aria-label": "Corner shop, all customers" }, h("img", { src: "icon.svg", alt: "", width: "32", height: "32" }), h("span", {}, "Corner shop"))),
      this.#status, this.#look,
      h("div", { class: "who" }, h("span", { class: "user" }, spelled(user)), h("button", { type: "button", class: "small", onclick: signOut }, "Sign out")));
    for (const type of ["online", "offline"]) addEventListener(type, () => this.show());
    this.show();
  }

  show() {
    const { status } = this.#store, { isOn } = this.#network, text = sentence(status, isOn);
    if (text !== this.#text) this.#status.textContent = this.#text = text;
    const isApart = !isOn || !navigator.onLine || ["offline", "waiting", "needsAuth", "needsUpgrade"].includes(status.phase);
    this.#status.dataset.kind = /^needs/.test(status.phase) ? "needs" : isApart ? "apart" : status.unsent ? "busy" : "calm";
    if (status.link && status.phase === "needsUpgrade") this.#status.append(" ", h("a", { href: status.link }, "Get it"));
    this.#switch.setAttribute("aria-checked", String(isOn));
    document.documentElement.dataset.network = isOn ? "on" : "off";
    const count = status.refused + this.#meetings.all.length;
    this.#look.hidden = !count;
    this.#look.textContent = `${count} to review`;
    this.#look.classList.toggle("refused", status.refused > 0);
  }
}
