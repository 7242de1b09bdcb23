import { freshID, h } from "./dom.js";
import { called, fullName, same, told } from "./fields.js";
import { writer } from "./people.js";

const time = (text) => {
  const moment = new Date(text), isToday = moment.toDateString() === new Date().toDateString();
  return moment.toLocaleString("en-GB", isToday ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
};

/**
 * Which value the shop has, and why, in the words of its users. `now` is the current value in the store. It counts if it is
 * the shop's and has changed since the answer.
 */
function verdict(meeting, their, now) {
  const { written, new: mine, current } = meeting, said = reasonOf(meeting, their), isClaim = /yours$/.test(said.stands) ? same(written, mine) : !said.stands.endsWith(their.possessive) || same(written, current);
  if (now && !same(now.value, written)) {
    return now.isClean ? { stands: "Saved", value: now.value, why: "It was changed again later." } : { stands: "Saved at that time", value: written, why: "Your newer change is not saved in the shop yet." };
  }
  return { value: written, why: said.why, stands: isClaim ? said.stands : "Saved" };
}

function reasonOf({ outcome, old, current, written, new: mine, group }, their) {
  if (outcome === "refused") return { stands: "Saved", why: "The shop refused the whole change. The reason is below." };
  if (outcome === "client-won") return { stands: "Saved: yours", why: `Your change came last, so the shop saved it. ${their.label} is still in the shop's journal.` };
  if (outcome === "server-won" && same(old, current)) return { stands: "Saved: no change", why: "With your value, the customer would owe more than the credit limit allows. So the shop did not change it." };
  if (outcome === "server-won") return { stands: `Saved: ${their.possessive}`, why: "In this field, the value that is already in the shop counts. So the shop did not save yours." };
  if (outcome === "combined") return { stands: "Saved: both", why: typeof written === "string" && /^-?[\d.]+$/.test(written) ? "The shop added up both changes." : "The shop combined both changes. Nothing is lost." };
  if (outcome === "missing") return { stands: "Saved: nothing", why: "It was removed before your change arrived." };
  if (outcome === "deleted") return { stands: "Saved: removed", why: `You removed it while ${their.name} changed it. It was removed.` };
  if (outcome === "kept") return { stands: `Saved: ${their.possessive}`, why: `You removed it, but ${their.name} changed it at the same time. So it was not removed.` };
  if (outcome === "rejected") return { stands: `Saved: ${their.possessive}`, why: "The shop does not accept two changes of this field." };
  return { stands: same(written, mine) ? "Saved: yours" : "Saved", why: group ? "" : "The shop's rules decided this." };
}

/** The writer of the other edit, in the forms that sentences need. */
function other(by, user) {
  const name = writer(by, user);
  if (name.startsWith("you")) return { name: "Your other device", label: "The other value", possessive: "the other one", both: "You changed", how: " on two devices." };
  const isKnown = !/^(Someone|Another)/.test(name);
  return isKnown ? { name, label: `${name}'s value`, possessive: `${name}'s`, both: `You and ${name} both changed`, how: " at the same time." }
    : { name, label: "The other value", possessive: "theirs", both: `${name} and you both changed`, how: " at the same time." };
}

const named = (record, id, links) => (links && record ? h("a", { href: `#/customers/${encodeURIComponent(id)}` }, fullName(record)) : fullName(record));

/** A button that does something that may fail. */
function press(label, action, error, kind) {
  return h("button", { type: "button", class: kind, onclick: async ({ target }) => {
    target.disabled = true;
    try { await action(); } catch (fault) { error.textContent = fault.message; }
    target.disabled = false;
  } }, label);
}

const value = (label, text, kind, more) => h("div", { class: kind }, h("dt", {}, label, more ? h("span", { class: "when" }, more) : null), h("dd", {}, text));

/**
 * A card for a conflict: the value before, both new values, the saved value, and buttons to choose another one.
 *
 * @param {{user: string, record: any, aisles: Map<number, string>, links?: boolean, now?: {value: unknown, isClean: boolean}, decide: (decision: "takeMine" | "takeTheirs" | "dismiss") => Promise<void>}} about
 */
export function meetingCard(meeting, { user, record, aisles, links, now, decide }) {
  const { id, section, group, old, current, new: mine, outcome, by } = meeting, heading = freshID("met"), error = h("p", { class: "error", role: "alert" });
  // A rule of the shop refused the value, without another writer.
  const isAlone = outcome === "server-won" && same(old, current), their = other(by, user), say = (given) => told(section, group, given, aisles);
  const item = section === "groceries" ? [current, old, mine].find((given) => given?.name)?.name : null;
  const what = item ? `${called(section, group)} “${item}”` : called(section, group), { stands, value: standing, why } = verdict(meeting, their, now);
  const isMine = same(standing, mine), isTheirs = same(standing, current), canTake = outcome !== "missing" && outcome !== "refused";
  return h("article", { class: "card met", "aria-labelledby": heading },
    h("h3", { id: heading }, isAlone ? `Not accepted: ${what}` : `Changed twice: ${what}`),
    h("p", { class: "lead" }, isAlone ? ["You changed the ", what, " of ", named(record, id, links), ", and a rule of the shop did not accept it."]
      : [their.both, ` the ${what} of `, named(record, id, links), their.how]),
    h("dl", { class: "four" },
      value("Before", say(old), "was"),
      isAlone ? null : value(`${their.name} wrote`, say(current), `theirs${isTheirs ? " chosen" : ""}`, by?.at ? time(by.at) : null),
      value("You wrote", say(mine), `mine${isMine ? " chosen" : ""}`),
      value(stands, say(standing), "stands")),
    why ? h("p", { class: "why" }, why) : null,
    h("div", { class: "actions" },
      press("OK", () => decide("dismiss"), error, "main"),
      canTake && !isMine ? press("Use mine", () => decide("takeMine"), error) : null,
      canTake && !isAlone && group && !isTheirs ? press(`Use ${their.possessive}`, () => decide("takeTheirs"), error) : null),
    error);
}

/** The reason in the words of the shop, or else of the gateway. */
function reason(problem) {
  if (problem?.fields?.length && problem.index) {
    const fields = problem.fields.map((field) => called("customer", field)).join(" and ");
    return `Another customer already has this ${fields}.`;
  }
  return problem?.detail ?? problem?.title ?? "The shop refused this change.";
}

/** The values of a refused edit, a line for each group. */
function* lines({ changeset }, aisles) {
  for (const [section, change] of Object.entries(changeset ?? {})) {
    const rows = Array.isArray(change) ? change : [change];
    for (const row of rows) {
      if ("new" in row && ("old" in row || "id" in row)) yield { what: called(section), old: told(section, undefined, row.old, aisles), mine: row.new ? told(section, undefined, row.new, aisles) : "removed" };
      else for (const [group, value] of Object.entries(row)) if (group !== "id") yield { what: called(section, group), old: told(section, group, value.old, aisles), mine: told(section, group, value.new, aisles) };
    }
  }
}

/** Whether the form can show the edit: it changes one existing customer. */
const hasForm = ({ edits: [edit, ...others] }) => !others.length && edit.changeset.customer?.new === undefined;

/**
 * A card for an edit that the shop refused, with the reason.
 *
 * @param {{aisles: Map<number, string>, links?: boolean, restore?: () => Promise<void>}} about `restore`: puts the values of the edit
 *   into the form
 */
export function refusedCard(entry, { aisles, links, restore }) {
  const { edits, id, problem } = entry, heading = freshID("refused"), error = h("p", { class: "error", role: "alert" });
  // A refused new customer is no record of the shop.
  const record = entry.record ?? (edits[0]?.changeset.customer?.new ? { customer: edits[0].changeset.customer.new } : null);
  const found = edits.flatMap((edit) => [...lines(edit, aisles)]), what = [...new Set(found.map((line) => line.what))].join(", ");
  const hasOthers = entry.faulty.length > 0 && entry.faulty.length < found.length;
  return h("article", { class: "card refused", "aria-labelledby": heading },
    h("h3", { id: heading }, `Refused: ${what || "a change"} of `, named(record, id, links && entry.record)),
    h("p", { class: "lead" }, reason(problem)),
    h("dl", { class: "four" }, found.map((line) => [value(`${line.what[0].toUpperCase()}${line.what.slice(1)} before`, line.old, "was"), value("You wrote", line.mine, "mine")])),
    h("p", { class: "why" }, "The shop saved nothing of this change. Your other changes are not affected."),
    h("div", { class: "actions" }, restore && hasForm(entry) ? press("Correct it", restore, error, "main") : null, hasOthers ? press("Send the rest", () => entry.resend({ without: entry.faulty }), error) : null,
      press("Send it again", () => entry.resend(), error), press("Discard it", () => entry.discard(), error)),
    error);
}
