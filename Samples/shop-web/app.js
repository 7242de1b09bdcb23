import { open } from "/client/fieldmerge.js";
import { Bar } from "./bar.js";
import { meetingCard, refusedCard } from "./cards.js";
import { askToken, createCustomer, signOut } from "./dialogs.js";
import { h, say } from "./dom.js";
import { called, fullName, groupOf } from "./fields.js";
import { CustomerList } from "./list.js";
import { Meetings } from "./meetings.js";
import { NetworkSwitch } from "./network.js";
import { deviceOf, forget, isName, knownUsers, spelled, writer } from "./people.js";
import { CustomerForm } from "./record.js";
import { whileOpen } from "./states.js";

const tones = 4;

/** The first page: the choice of a person. */
function choose() {
  document.body.append(h("main", { class: "choose" },
    h("img", { src: "icon.svg", alt: "", width: "72", height: "72" }),
    h("h1", {}, "Corner shop"),
    h("p", {}, "Choose a person. Each person has a separate copy of the shop on this device."),
    h("ul", {}, knownUsers().map((user) => h("li", {}, h("a", { href: `?user=${user}` }, spelled(user))))),
    h("p", { class: "hint" }, "Try it: open two windows, one as Anna and one as Ben. Switch the network off in one of them, and change the same customer in both.")));
}

/** One person's shop. */
class Shop {
  #user; #store; #network; #meetings; #bar; #list; #pane; #form = null; #aisles = new Map(); #isThere = false; #isAsking = false; #isLeaving = false; #progress; #view = ""; #writers = new Map();

  constructor(user, store, network) {
    this.#user = user;
    this.#store = store;
    this.#network = network;
    this.#meetings = new Meetings(store, user);
    this.#bar = new Bar({ user, store, network, meetings: this.#meetings, signOut: () => void this.#signOut() });
    this.#list = new CustomerList(store, this.#meetings, { create: () => void createCustomer(store) });
    this.#pane = h("div", { class: "pane", id: "pane", tabindex: "-1" });
    document.title = `${spelled(user)} · Corner shop`;
    document.documentElement.dataset.tone = String([...user].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % tones);
    document.body.append(
      h("a", { class: "skip", href: "#pane", onclick: (event) => { event.preventDefault(); this.#pane.focus(); } }, "Skip to the customer"),
      this.#bar.element, h("main", { class: "panes" }, this.#list.element, this.#pane), this.#bar.demo, h("p", { id: "said", class: "unseen", role: "status" }));
    this.#listen();
    this.#showStatus();
  }

  #listen() {
    const store = this.#store;
    store.addEventListener("status", () => this.#showStatus());
    store.addEventListener("refused", () => {
      say("A change was refused.");
      this.#changed();
    });
    store.addEventListener("gone", ({ record }) => say(`${fullName(record)} was removed.`));
    this.#meetings.addEventListener("change", () => this.#changed());
    this.#meetings.addEventListener("met", ({ detail }) => say(`Changed twice: ${called(detail.section, detail.group)}. ${writer(detail.by, this.#user)} changed it too.`));
    this.#network.addEventListener("change", () => {
      if (this.#network.isOn) store.start();
      else store.stop();
      this.#bar.show();
      say(this.#network.isOn ? "The network is on." : "The network is off. Your changes wait on this device.");
    });
    // The library waits longer after each failure. The browser reports that the network is back, so it need not wait.
    addEventListener("online", () => {
      if (!this.#network.isOn) return;
      store.stop();
      store.start();
    });
    addEventListener("hashchange", () => this.#route());
  }

  #showStatus() {
    const { status } = this.#store;
    this.#bar.show();
    if (status.revision === null) this.#showProgress(status);
    else if (!this.#isThere) this.#begin();
    else this.#changed();
    if (status.phase === "needsAuth" && !this.#isAsking) void this.#askToken();
    if (status.phase === "closed" && !this.#isLeaving) location.replace("./");
  }

  #changed() {
    if (!this.#isThere) return;
    this.#bar.show();
    void this.#list.showStates();
    void this.#form?.showStates();
    if (this.#view === "look") void whileOpen(() => this.#showLook());
  }

  /** Shows how much of the shop has arrived. Later the shop opens without a network. */
  #showProgress({ progress, phase }) {
    const { done = 0, total = null } = progress ?? {};
    if (!this.#progress) {
      this.#progress = { text: h("p", {}), bar: h("progress", { "aria-label": "Loading the shop" }) };
      document.documentElement.dataset.view = "first";
      this.#pane.replaceChildren(h("section", { class: "first" }, h("h2", {}, "Loading the shop"), this.#progress.bar, this.#progress.text));
    }
    const isApart = !this.#network.isOn || ["offline", "waiting"].includes(phase);
    const number = (count) => count.toLocaleString("en-GB");
    this.#progress.text.textContent = isApart && !progress ? "The first load needs a network. Switch it on to continue."
      : total ? `${number(Math.min(done, total))} of about ${number(total)} records` : "Connecting…";
    if (total) Object.assign(this.#progress.bar, { max: total, value: Math.min(done, total) });
  }

  #begin() {
    this.#isThere = true;
    const device = deviceOf(this.#user);
    // The last writer of each customer, for the form.
    this.#store.beforeStore = ({ resource, id, by }) => {
      if (resource === "shoppers") this.#writers.set(String(id), by && by.device !== device ? writer(by, this.#user) : undefined);
    };
    this.#store.observe("aisles", (aisles) => {
      this.#aisles = new Map(aisles.map(({ id, aisle }) => [id, aisle.name]));
      if (this.#form) this.#form.aisles = this.#aisles;
    });
    this.#store.observe("shoppers", (records) => this.#list.show(records));
    this.#route();
  }

  #route() {
    if (!this.#isThere) return;
    const id = location.hash.match(/^#\/customers\/(.+)$/)?.[1], view = id !== undefined ? "customer" : location.hash === "#/look" ? "look" : "list";
    const real = id === undefined ? null : /^\d+$/.test(id) ? Number(id) : decodeURIComponent(id);
    const isFirst = this.#view === "";
    this.#view = document.documentElement.dataset.view = view;
    this.#form?.end();
    this.#form = null;
    this.#list.open = real;
    if (view === "customer") {
      this.#form = new CustomerForm(real, { store: this.#store, user: this.#user, meetings: this.#meetings, aisles: this.#aisles, writers: this.#writers, renamed: (known) => {
        this.#list.open = known;
        history.replaceState(null, "", `#/customers/${known}`);
      } });
      this.#pane.replaceChildren(this.#form.element);
      if (!isFirst) this.#form.focus();
    } else if (view === "look") {
      this.#pane.replaceChildren(h("article", { class: "customer" }, h("header", {}, h("a", { class: "back", href: "#/" }, "All customers"), h("h2", { tabindex: "-1" }, "To review")), h("div", { class: "cards" })));
      void whileOpen(() => this.#showLook());
      this.#pane.querySelector("h2").focus();
    } else {
      this.#pane.replaceChildren(h("section", { class: "nothing" }, h("h2", {}, "Choose a customer"), h("p", {}, "Changes are saved when you leave a field, with or without a network.")));
      if (!isFirst) this.#list.focus();
    }
    this.#pane.scrollTop = 0;
    scrollTo(0, 0);
  }

  /** The conflicts and refused edits of all customers. */
  async #showLook() {
    const entries = await this.#store.refusedEdits(), meetings = await this.#meetings.looked(groupOf), place = this.#pane.querySelector(".cards");
    const records = await Promise.all(meetings.map(({ meeting: { resource, id } }) => this.#store.record(resource, id)));
    if (this.#view !== "look" || !place) return;
    const hadFocus = place.contains(document.activeElement), about = { aisles: this.#aisles, user: this.#user, links: true };
    place.replaceChildren(
      ...meetings.map(({ meeting, now }, index) => meetingCard(meeting, { ...about, record: records[index], now, decide: (decision) => this.#meetings.decide(meeting, decision) })),
      ...entries.map((entry) => refusedCard(entry, about)),
      ...(entries.length + meetings.length ? [] : [h("p", {}, "Nothing to review.")]));
    if (hadFocus) this.#pane.querySelector("h2").focus();
  }

  async #askToken() {
    this.#isAsking = true;
    const told = await askToken();
    if (told) {
      localStorage.setItem(`shop-web:${this.#user}:token`, told.token.trim());
      await this.#store.sync();
    }
    this.#isAsking = false;
  }

  async #signOut() {
    // This window leaves after the store is deleted. Other windows of this user get the phase `closed`.
    this.#isLeaving = true;
    this.#isLeaving = await signOut(this.#store);
    if (!this.#isLeaving) return;
    forget(this.#user);
    location.replace("./");
  }
}

async function run(user) {
  const network = new NetworkSwitch(user, deviceOf(user));
  let store;
  try {
    store = await open({
      server: location.origin, user, client: "shop-web/1.0", resources: ["shoppers", "aisles"], fetch: network.fetch,
      token: () => localStorage.getItem(`shop-web:${user}:token`),
    });
  } catch (error) {
    document.body.append(h("main", { class: "choose" }, h("h1", {}, "Corner shop"), h("p", { role: "alert" }, `This browser cannot store data for the app: ${error.message}`)));
    return;
  }
  new Shop(user, store, network);
  if (network.isOn) store.start();
}

const user = new URLSearchParams(location.search).get("user")?.toLowerCase();
if (isName(user)) await run(user);
else choose();
// Browsers run it only for pages that came from https:// or from the machine itself.
if ("serviceWorker" in navigator) navigator.serviceWorker.register("worker.js").catch(() => {});
