/**
 * The switch of this window. While it is off, no request leaves the app and those under way break off, as without a network;
 * so one can see on a single machine what two devices see that are apart.
 */
export class NetworkSwitch extends EventTarget {
  #key; #device; #requests = new AbortController();

  /** @param {string} device what the shop calls this device where somebody asks who wrote something */
  constructor(user, device) {
    super();
    this.#key = `shop-web:${user}:off`;
    this.#device = device;
    // All windows of a user share a store, and so its network.
    addEventListener("storage", ({ key }) => { if (key === this.#key) this.#changed(); });
  }

  get isOn() { return localStorage.getItem(this.#key) === null; }

  set isOn(isOn) {
    if (isOn) localStorage.removeItem(this.#key);
    else localStorage.setItem(this.#key, "1");
    this.#changed();
  }

  #changed() {
    if (!this.isOn) {
      this.#requests.abort(new TypeError("The network was switched off."));
      this.#requests = new AbortController();
    }
    this.dispatchEvent(new Event("change"));
  }

  /** `fetch` for the client library. */
  fetch = async (address, options = {}) => {
    if (!this.isOn) throw new TypeError("The network is switched off.");
    const { signal } = this.#requests;
    return fetch(address, {
      ...options,
      headers: { ...options.headers, "X-Device-ID": this.#device },
      signal: options.signal ? AbortSignal.any([options.signal, signal]) : signal,
    });
  };
}
