import { freshID, h } from "./dom.js";
import { called, fullName, same, told } from "./fields.js";
import { writer } from "./people.js";

const time = (text) => {
  const moment = new Date(text), isToday = moment.toDateString() === new Date().toDateString();
  return moment.toLocaleString("en-GB", isToday ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
};

/** Says whose value stands, and why, in words that need no knowledge of rules. */
function verdict({ outcome, old, current, written, new: mine, group }, their) {
  if (outcome === "client-won") return { stands: "Now stands: yours", why: `Yours reached the shop last, so it stands. What ${their.name} wrote is kept in the shop's journal.` };
  if (outcome === "server-won" && same(old, current)) return { stands: "Now stands: as it was", why: "Nobody else changed it, but with your value the customer would owe more than the credit limit allows, so the shop left it as it was." };
  if (outcome === "server-won") return { stands: `Now stands: ${their.possessive}`, why: "In this field what the shop already has stands, so yours was not written." };
  if (outcome === "combined") return { stands: "Now stands: both", why: typeof written === "string" && /^-?[\d.]+$/.test(written) ? "Both amounts were counted." : "Both edits were joined, so nothing of either is lost." };
  if (outcome === "missing") return { stands: "Now stands: nothing", why: "It was removed meanwhile, so there was nothing left to change." };
  if (outcome === "deleted") return { stands: "Now stands: removed", why: `You removed it while ${their.name} changed it. It is gone.` };
  if (outcome === "kept") return { stands: `Now stands: ${their.possessive}`, why: `You removed it, but ${their.name} had changed it meanwhile, so it stays.` };
  if (outcome === "rejected") return { stands: `Now stands: ${their.possessive}`, why: "The shop's rules refuse an edit that meets another one here." };
  return { stands: same(written, mine) ? "Now stands: yours" : "Now stands", why: group ? "" : "The shop's rules decided." };
}

/**
 * A card for a place where two edits met: what both began with, what each wrote, what stands now, and the ways to change that.
 *
 * @param {{user: string, record: any, aisles: Map<number, string>, link?: boolean, take: (value: unknown) => Promise<void>, dismiss: () => void}} about
 */
export function meetingCard(meeting, { user, record, aisles, take, dismiss }) {
  const { section, group, old, current, new: mine, written, outcome, by, at } = meeting;
  const isAlone = outcome === "server-won" && same(old, current), name = isAlone ? "The shop" : writer(by, user), heading = freshID("met");
  const their = { name: name.replace(/,$/, ""), possessive: /^(Somebody|Another)/.test(name) ? "theirs" : name.startsWith("You") ? "that of your other device" : `${name}'s` };
  const say = (value) => told(section, group, value, aisles), what = called(section, group);
  const item = section === "groceries" ? ` ${[current, old, mine].find((value) => value?.name)?.name ?? ""}`.trimEnd() : "";
  const { stands, why } = verdict(meeting, their), error = h("p", { class: "error", role: "alert" });
  const press = (value) => async (event) => {
    event.target.disabled = true;
    try { await take(value); } catch (fault) { event.target.disabled = false; error.textContent = fault.message; }
  };
  const value = (label, text, kind, more) => h("div", { class: kind }, h("dt", {}, label, more ? h("span", { class: "when" }, more) : null), h("dd", {}, text));
  const canTakeTheirs = !isAlone && group && !same(written, current) && outcome !== "missing";
  return h("article", { class: "card met", "aria-labelledby": heading },
    h("h3", { id: heading }, isAlone ? `Not accepted: ${what}` : `Two edits met: ${what}${item}`),
    h("p", { class: "lead" }, isAlone
      ? `You changed the ${what} of ${fullName(record)}, and a rule of the shop took it back.`
      : `${their.name === "Somebody" || name.startsWith("Another") ? `${name} changed` : name.startsWith("You") ? "You changed" : `You and ${name} both changed`} the ${what}${item} of ${fullName(record)}${name.startsWith("You") ? " on two devices" : /^(Somebody|Another)/.test(name) ? ", and so did you" : ", each without knowing of the other"}.`),
    h("dl", { class: "four" },
      value("It was", say(old), "was"),
      isAlone ? null : value(name.startsWith("You") ? "Your other device wrote" : `${name} wrote`, say(current), `theirs${same(written, current) ? " chosen" : ""}`, by ? time(at) : null),
      value("You wrote", say(mine), `mine${same(written, mine) ? " chosen" : ""}`),
      value(stands, say(written), "stands")),
    why ? h("p", { class: "why" }, why) : null,
    h("div", { class: "actions" },
      !same(written, mine) && outcome !== "missing" ? h("button", { type: "button", class: "main", onclick: press(mine) }, "Take mine") : null,
      canTakeTheirs ? h("button", { type: "button", onclick: press(current) }, `Take ${their.possessive}`) : null,
      h("button", { type: "button", onclick: dismiss }, "Fine as it is")),
    error);
}

/** Reasons in the words of the shop; others are told as the gateway says them. */
function reason(problem) {
  if (problem?.fields?.length && problem.index) {
    const fields = problem.fields.map((field) => called("customer", field)).join(" and ");
    return `Another customer has this ${fields} already, and no two may have the same.`;
  }
  return problem?.detail ?? problem?.title ?? "The shop refused it.";
}

/** What was written in a refused edit, a line for each group. */
function* lines({ changeset }, aisles) {
  for (const [section, change] of Object.entries(changeset ?? {})) {
    const rows = Array.isArray(change) ? change : [change];
    for (const row of rows) {
      if ("new" in row && ("old" in row || "id" in row)) yield { what: called(section), old: told(section, undefined, row.old, aisles), mine: row.new ? told(section, undefined, row.new, aisles) : "removed" };
      else for (const [group, value] of Object.entries(row)) if (group !== "id") yield { what: called(section, group), old: told(section, group, value.old, aisles), mine: told(section, group, value.new, aisles) };
    }
  }
}

/**
 * A card for an edit that the shop refused, with the reason.
 *
 * @param {{aisles: Map<number, string>, resend: () => Promise<unknown>, discard: () => Promise<unknown>}} about
 */
export function refusedCard(entry, { aisles, resend, discard }) {
  const heading = freshID("refused"), name = entry.record ? fullName(entry.record) : fullName(entry.edits?.[0]?.changeset?.customer?.new && { customer: entry.edits[0].changeset.customer.new });
  const found = (entry.edits ?? []).flatMap((edit) => [...lines(edit, aisles)]), error = h("p", { class: "error", role: "alert" });
  const press = (action) => async (event) => {
    event.target.disabled = true;
    try { await action(); } catch (fault) { event.target.disabled = false; error.textContent = fault.message; }
  };
  return h("article", { class: "card refused", "aria-labelledby": heading },
    h("h3", { id: heading }, `Refused: ${[...new Set(found.map(({ what }) => what))].join(", ") || "a change"} of ${name}`),
    h("p", { class: "lead" }, reason(entry.problem)),
    h("dl", { class: "four" }, found.map(({ what, old, mine }) => [
      h("div", { class: "was" }, h("dt", {}, `The ${what} was`), h("dd", {}, old)),
      h("div", { class: "mine" }, h("dt", {}, "You wrote"), h("dd", {}, mine))])),
    h("p", { class: "why" }, "Nothing of it was written, and nothing else waits for it. Change it in the form and discard this one, or send it once more."),
    h("div", { class: "actions" },
      h("button", { type: "button", onclick: press(resend) }, "Send it again"),
      h("button", { type: "button", onclick: press(discard) }, "Discard it")),
    error);
}
