import { freshID, h } from "./dom.js";
import { called, fullName, same, told } from "./fields.js";
import { writer } from "./people.js";

const time = (text) => {
  const moment = new Date(text), isToday = moment.toDateString() === new Date().toDateString();
  return moment.toLocaleString("en-GB", isToday ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
};

/**
 * Says which value the shop has, and why, in words that need no knowledge of rules. `now` is the value of the place in the store:
 * it counts if it is the shop's and has changed since the answer.
 */
function verdict(meeting, their, now) {
  const { written, new: mine, current } = meeting, said = reasonOf(meeting, their), isClaim = /yours$/.test(said.stands) ? same(written, mine) : !said.stands.endsWith(their.possessive) || same(written, current);
  if (now && !same(now.value, written)) {
    return now.isClean ? { stands: "Now stands", value: now.value, why: "It was changed again since then." } : { stands: "Stood in the shop then", value: written, why: "Your newer change has no answer yet." };
  }
  return { value: written, why: said.why, stands: isClaim ? said.stands : "Now stands" };
}

function reasonOf({ outcome, old, current, written, new: mine, group }, their) {
  if (outcome === "refused") return { stands: "Now stands", why: "The shop refused the whole change, so nothing of it was written. It is below, with the reason." };
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

/** The one who wrote the other edit, in the forms that sentences need. */
function other(by, user) {
  const name = writer(by, user);
  if (name.startsWith("You")) return { name: "Your other device", possessive: "the other one", both: "You changed", how: ", on two devices." };
  const isKnown = !/^(Somebody|Another)/.test(name);
  return isKnown ? { name, possessive: `${name}'s`, both: `You and ${name} both changed`, how: ", each without knowing of the other." }
    : { name, possessive: "theirs", both: `${name} and you both changed`, how: ", each without knowing of the other." };
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
 * A card for a place where two edits met: what both began with, what each wrote, what stands now, and the ways to change that.
 *
 * @param {{user: string, record: any, aisles: Map<number, string>, links?: boolean, now?: {value: unknown, isClean: boolean}, decide: (decision: "takeMine" | "takeTheirs" | "dismiss") => Promise<void>}} about
 */
export function meetingCard(meeting, { user, record, aisles, links, now, decide }) {
  const { id, section, group, old, current, new: mine, outcome, by } = meeting, heading = freshID("met"), error = h("p", { class: "error", role: "alert" });
  // Nobody else wrote: a rule of the shop took the value back.
  const isAlone = outcome === "server-won" && same(old, current), their = other(by, user), say = (given) => told(section, group, given, aisles);
  const item = section === "groceries" ? [current, old, mine].find((given) => given?.name)?.name : null;
  const what = item ? `${called(section, group)} “${item}”` : called(section, group), { stands, value: standing, why } = verdict(meeting, their, now);
  const isMine = same(standing, mine), isTheirs = same(standing, current), canTake = outcome !== "missing" && outcome !== "refused";
  return h("article", { class: "card met", "aria-labelledby": heading },
    h("h3", { id: heading }, isAlone ? `Not accepted: ${what}` : `Two edits met: ${what}`),
    h("p", { class: "lead" }, isAlone ? ["You changed the ", what, " of ", named(record, id, links), ", and a rule of the shop took it back."]
      : [their.both, ` the ${what} of `, named(record, id, links), their.how]),
    h("dl", { class: "four" },
      value("It was", say(old), "was"),
      isAlone ? null : value(`${their.name} wrote`, say(current), `theirs${isTheirs ? " chosen" : ""}`, by?.at ? time(by.at) : null),
      value("You wrote", say(mine), `mine${isMine ? " chosen" : ""}`),
      value(stands, say(standing), "stands")),
    why ? h("p", { class: "why" }, why) : null,
    h("div", { class: "actions" },
      canTake && !isMine ? press("Take mine", () => decide("takeMine"), error, "main") : null,
      canTake && !isAlone && group && !isTheirs ? press(`Take ${their.possessive}`, () => decide("takeTheirs"), error) : null,
      press("Fine as it is", () => decide("dismiss"), error)),
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

/** The form shows an edit of one customer, who exists before it and after it. */
const hasForm = ({ edits: [edit, ...others] }) => !others.length && edit.changeset.customer?.new === undefined;

/**
 * A card for an edit that the shop refused, with the reason.
 *
 * @param {{aisles: Map<number, string>, links?: boolean, restore?: () => Promise<void>}} about `restore`: takes the edit back into
 *   the form that is shown
 */
export function refusedCard(entry, { aisles, links, restore }) {
  const { edits, id, problem } = entry, heading = freshID("refused"), error = h("p", { class: "error", role: "alert" });
  // A customer that was to be made is no record of the shop's.
  const record = entry.record ?? (edits[0]?.changeset.customer?.new ? { customer: edits[0].changeset.customer.new } : null);
  const found = edits.flatMap((edit) => [...lines(edit, aisles)]), what = [...new Set(found.map((line) => line.what))].join(", ");
  const hasOthers = entry.faulty.length > 0 && entry.faulty.length < found.length;
  return h("article", { class: "card refused", "aria-labelledby": heading },
    h("h3", { id: heading }, `Refused: ${what || "a change"} of `, named(record, id, links && entry.record)),
    h("p", { class: "lead" }, reason(problem)),
    h("dl", { class: "four" }, found.map((line) => [value(`The ${line.what} was`, line.old, "was"), value("You wrote", line.mine, "mine")])),
    h("p", { class: "why" }, "Nothing of it was written, and nothing else waits for it. Change it in the form, or send it once more."),
    h("div", { class: "actions" }, restore && hasForm(entry) ? press("Change it in the form", restore, error, "main") : null, hasOthers ? press("Send the rest", () => entry.resend({ without: entry.faulty }), error) : null,
      press("Send it again", () => entry.resend(), error), press("Discard it", () => entry.discard(), error)),
    error);
}
