import { ask, freshID, h } from "./dom.js";

/** A form in a dialog: resolves with its values, or with null if it was cancelled. */
function form({ title, text, fields, button }) {
  return new Promise((resolve) => {
    const heading = freshID("title");
    let answer = null;
    const dialog = h("dialog", { "aria-labelledby": heading, onclose: () => { dialog.remove(); resolve(answer); } },
      h("h2", { id: heading }, title), text ? h("p", {}, text) : null,
      h("form", { onsubmit: (event) => {
        event.preventDefault();
        answer = Object.fromEntries(new FormData(event.target));
        dialog.close();
      } },
      fields.map(({ name, label, ...more }) => {
        const id = freshID(name);
        return h("div", { class: "field" }, h("label", { for: id }, label), h("input", { id, name, autocomplete: "off", ...more }));
      }),
      h("div", { class: "actions" }, h("button", { type: "submit", class: "main" }, button), h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"))));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Creates a customer and opens the form. */
export async function createCustomer(store) {
  const told = await form({
    title: "New customer", button: "Create",
    fields: [
      { name: "firstName", label: "First name", required: true }, { name: "lastName", label: "Last name", required: true },
      { name: "street", label: "Street", required: true }, { name: "postCode", label: "Post code", required: true },
    ],
  });
  if (!told) return;
  try {
    const ticket = await store.create("shoppers", (record) => { record.customer = told; });
    location.hash = `#/customers/${encodeURIComponent(ticket.id)}`;
  } catch (error) {
    await ask({ title: "This customer cannot be saved", text: [error.message], buttons: [{ label: "Close", value: "close" }] });
  }
}

/** Reads a token from the user. */
export const askToken = () => form({
  title: "Please sign in", button: "Continue", text: "The operator of the gateway makes tokens with “fieldmerge token new”. Your changes stay on this device.",
  fields: [{ name: "token", label: "Token", required: true, type: "password" }],
});

/**
 * Signs out, unless edits were not sent and the user wants to keep them.
 *
 * @returns {Promise<boolean>} whether the store of this device was deleted
 */
export async function signOut(store) {
  let unsent = "refuse", hasTried = false;
  for (;;) {
    try {
      await store.signOut({ unsent });
      return true;
    } catch (error) {
      if (error.code !== "unsent") throw error;
      const count = `${error.unsent} change${error.unsent === 1 ? "" : "s"}`;
      const answer = await ask({
        title: hasTried ? "The changes could not be sent" : "Some changes are not sent yet",
        text: [`${count} ${error.unsent === 1 ? "exists" : "exist"} only on this device. Signing out deletes all data of the app from it.`],
        buttons: [{ label: "Send first, then sign out", value: "send", kind: "main" }, { label: "Discard and sign out", value: "discard", kind: "danger" }, { label: "Stay signed in", value: "stay" }],
      });
      if (answer !== "send" && answer !== "discard") return false;
      unsent = answer;
      hasTried = answer === "send";
    }
  }
}
