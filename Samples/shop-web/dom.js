/**
 * Makes an element. Members that begin with “on” are listeners, others attributes; true stands for an empty one, and null,
 * false and undefined for none. Text becomes text: nothing is ever read as HTML.
 */
export function h(name, members = {}, ...children) {
  const element = document.createElement(name);
  for (const [member, value] of Object.entries(members)) {
    if (member.startsWith("on")) element.addEventListener(member.slice(2), value);
    else if (value === true) element.setAttribute(member, "");
    else if (value !== null && value !== false && value !== undefined) element.setAttribute(member, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

let last = 0;

/** Returns an id that no other element has. */
export const freshID = (word) => `${word}-${++last}`;

let saying;

/** Says a sentence to who does not see the page. */
export function say(sentence) {
  const place = document.querySelector("#said");
  if (!place) return;
  // The same sentence twice is said twice.
  place.textContent = "";
  clearTimeout(saying);
  saying = setTimeout(() => { place.textContent = sentence; }, 60);
}

/**
 * Asks in a dialog, and resolves with the value of the button that was pressed; null where it was left.
 *
 * @param {{title: string, text?: (string | Node)[], buttons: {label: string, value: string, kind?: string}[]}} question
 */
export function ask({ title, text = [], buttons }) {
  return new Promise((resolve) => {
    const heading = freshID("title");
    let answer = null;
    const dialog = h("dialog", { "aria-labelledby": heading, onclose: () => { dialog.remove(); resolve(answer); } },
      h("h2", { id: heading }, title),
      text.map((part) => (typeof part === "string" ? h("p", {}, part) : part)),
      h("div", { class: "actions" }, buttons.map(({ label, value, kind }) =>
        h("button", { type: "button", class: kind ?? null, onclick: () => { answer = value; dialog.close(); } }, label))));
    document.body.append(dialog);
    dialog.showModal();
  });
}
