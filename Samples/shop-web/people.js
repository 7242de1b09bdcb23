/** Whether a text can be a user in the address. */
export const isName = (text) => /^[a-z][a-z0-9]{0,23}$/.test(text ?? "");

/** A name as people write it. */
export const spelled = (name) => name[0].toUpperCase() + name.slice(1);

const key = (user) => `shop-web:${user}:device`;

/** The name of this device in the shop: its user's name and a random number. */
export function deviceOf(user) {
  let device = localStorage.getItem(key(user));
  if (!device) {
    const random = [...crypto.getRandomValues(new Uint8Array(4))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    device = `${user}-${random}`;
    localStorage.setItem(key(user), device);
  }
  return device;
}

/** The users with a store on this device, and the two of the sample. */
export function knownUsers() {
  const found = Object.keys(localStorage).map((name) => name.match(/^shop-web:(.+):device$/)?.[1]).filter(isName);
  return [...new Set(["anna", "ben", ...found])].sort();
}

/** Deletes what the app itself stores of a user. */
export function forget(user) {
  for (const name of Object.keys(localStorage)) if (name.startsWith(`shop-web:${user}:`)) localStorage.removeItem(name);
}

/**
 * The name of a writer. A gateway with tokens reports the person; without tokens only the device is known.
 *
 * @param {{who: string | null, device: string | null} | null} by
 * @param {string} user the user of this window
 */
export function writer(by, user) {
  if (!by) return "Someone";
  const name = by.who ?? by.device?.match(/^(.+)-[0-9a-f]{8}$/)?.[1];
  if (!name) return "Another program";
  return name === user ? "you, on another device" : spelled(name);
}
