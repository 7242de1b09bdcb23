// The frame of the console: sign-in, navigation, and the page of the address.

import { isSignedIn, session, signIn, signOut, whenSignedOut } from "./api.js";
import { button, field, h, link, notice, put } from "./dom.js";
import { address, readAddress } from "./model.js";
import "./overview.js";
import "./conflicts.js";
import "./record.js";
import "./refused.js";
import "./rules.js";
import "./devices.js";
import "./health.js";

const PAGES = [
  ["overview", "Overview"], ["conflicts", "Conflicts"], ["record", "Record"], ["refused", "Refused"],
  ["rules", "Rules"], ["devices", "Devices"], ["health", "Health"],
];
const NAMES = new Map(PAGES);

function showSignIn(reason = "") {
  document.title = "Sign in · FieldMerge console";
  const input = h("input", { type: "password", autocomplete: "off", required: true, spellcheck: "false", name: "token" });
  const message = h("div", { role: "alert" }, reason ? notice("warn", h("p", null, reason)) : null);
  const submit = h("button", { class: "primary" }, "Sign in");
  put(document.body, h("main", { class: "signin", id: "main" },
    h("form", {
      onsubmit: async (event) => {
        event.preventDefault();
        submit.disabled = true;
        try {
          await signIn(input.value);
          showFrame();
        } catch (problem) {
          submit.disabled = false;
          const text = problem.status === 401 ? "The gateway does not accept this token."
            : problem.status === 403 ? "This token is not an operator's token." : problem.message;
          put(message, notice("bad", h("p", null, text)));
          input.focus();
        }
      },
    },
    brand(), h("h1", null, "Sign in"),
    field("Operator token", input, "The page keeps it in memory until you close or reload it."),
    message, submit,
    h("p", { class: "muted" }, "Make a token with ", h("code", null, "fieldmerge token new --operator"), "."))));
  input.focus();
}

const brand = () => h("span", { class: "brand" }, h("span", { class: "logo", "aria-hidden": "true" }), "FieldMerge");

let view, navigation;

function showFrame() {
  navigation = h("nav", { "aria-label": "Pages" }, h("ul", null, PAGES.map(([name, label]) =>
    h("li", null, link(label, address(name), { "data-page": name })))));
  view = h("main", { id: "main", tabindex: "-1" });
  put(document.body,
    link("Skip to the page", "#main", {
      class: "skip",
      onclick: (event) => { event.preventDefault(); (view.querySelector("h1") ?? view).focus(); },
    }),
    h("header", { class: "bar" }, brand(),
      h("div", { class: "session" },
        h("span", { class: "who" }, session.name ? `${session.name} · ` : "", location.host),
        h("span", { class: "badge plain" }, h("span", { "aria-hidden": "true" }, session.mode === "full" ? "✎" : "◉"), session.mode === "full" ? "Can write" : "Read-only"),
        button("Sign out", () => signOut(), { class: "quiet" }))),
    navigation, view);
  route(true);
}

let shown = null;

/** Shows the page of the address. Only another page moves the focus; filters of the same page do not. */
function route(isFirst = false) {
  if (!isSignedIn()) return;
  for (const open of document.querySelectorAll("dialog[open]")) open.close();
  const { page, parts, query } = readAddress(location.hash);
  const known = NAMES.has(page) ? page : "overview";
  for (const anchor of navigation.querySelectorAll("a")) {
    if (anchor.dataset.page === known) {
      anchor.setAttribute("aria-current", "page");
      anchor.scrollIntoView({ block: "nearest", inline: "center" });
    } else {
      anchor.removeAttribute("aria-current");
    }
  }
  const path = [known, ...parts].join("/");
  const current = view.firstElementChild;
  if (!isFirst && path === shown && current?.refilter?.(query)) return;
  const isOther = path !== shown;
  const focused = document.activeElement?.name;
  shown = path;
  const element = document.createElement(`fm-${known}`);
  element.parts = parts;
  element.query = query;
  view.replaceChildren(element);
  document.title = `${element.heading} · FieldMerge console`;
  if (isOther || isFirst) scrollTo(0, 0);
  // The control that changed a filter keeps the focus.
  const target = (!isOther && focused && view.querySelector(`[name="${CSS.escape(focused)}"]`)) || view.querySelector("h1");
  target?.focus({ preventScroll: true });
}

addEventListener("hashchange", () => route());
whenSignedOut((reason) => {
  shown = null;
  for (const open of document.querySelectorAll("dialog[open]")) open.close();
  showSignIn(reason);
});
showSignIn();
