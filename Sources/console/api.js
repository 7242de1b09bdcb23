// Requests to the gateway. The token is only in this module's memory.

import { isObject, parse, stringify } from "./json.js";

/** A problem document, or a request without an answer. */
export class Problem extends Error {
  constructor(status, document) {
    super(document.detail ?? document.title ?? `The gateway answered ${status}.`);
    this.status = status;
    this.code = document.code ?? "";
    this.title = document.title ?? "";
    this.document = document;
  }

  /** True if this gateway does not have the address. */
  get isMissingAddress() {
    return ["no-such-address", "method-not-allowed", "unknown-query"].includes(this.code) || this.status === 501;
  }
}

let token = null;
let onSignOut = () => {};
export const session = { mode: "read-only", version: "", name: "" };

export const isSignedIn = () => token !== null;
export const canWrite = () => session.mode === "full";

/** Calls a function when the gateway does not accept the token any more. */
export const whenSignedOut = (body) => { onSignOut = body; };

/** Checks a token and keeps it until `signOut`. */
export async function signIn(text) {
  token = text.trim();
  try {
    let state;
    try {
      state = await get("/v1/operations/console", { signsOut: false });
    } catch (problem) {
      if (!problem.isMissingAddress) throw problem;
      // A gateway without a console, for example behind a file server: only reading.
      await get("/v1/journal?limit=1", { signsOut: false });
      state = { mode: "read-only", version: "" };
    }
    Object.assign(session, { mode: state.mode, version: state.version });
  } catch (problem) {
    token = null;
    throw problem;
  }
}

export function signOut(reason = "") {
  token = null;
  session.name = "";
  onSignOut(reason);
}

/** Sends a request, and returns the text of the answer. */
async function send(method, path, { body, accept, signal } = {}) {
  const headers = { "X-Console": "1", Authorization: `Bearer ${token}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (accept) headers.Accept = accept;
  let answer, text;
  try {
    answer = await fetch(path, {
      method, headers, signal, body: body === undefined ? undefined : stringify(body),
      cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
    });
    text = await answer.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { code: "no-answer", title: "No answer", detail: "The gateway does not answer. The page tries again." });
  }
  const who = answer.headers.get("X-Who");
  if (who) { try { session.name = decodeURIComponent(who); } catch { session.name = who; } }
  return { answer, text };
}

function document(text) {
  try { return parse(text); } catch { return {}; }
}

/** Requests JSON. Problem documents are thrown; `accepts` are further statuses with an answer. */
async function json(method, path, options = {}) {
  const { answer, text } = await send(method, path, options);
  const body = document(text);
  if (answer.ok || options.accepts?.includes(answer.status)) return body;
  // The result of a push that was refused is an answer too.
  if (options.isPush && isObject(body) && (body.status === "failed" || body.status === "rejected")) return body;
  const problem = new Problem(answer.status, isObject(body) ? body : {});
  if (answer.status === 401 && token !== null && options.signsOut !== false) signOut("The gateway does not accept the token any more.");
  throw problem;
}

export const get = (path, options) => json("GET", path, options);
export const post = (path, body, options) => json("POST", path, { ...options, body });
export const readText = async (path, options) => (await send("GET", path, options)).text;
/** The state of the gateway, which is an answer also with 503. */
export const readiness = (options) => get("/readyz", { ...options, accepts: [503] });

let rules = null;
/** The resources of `/v1/rules`, read once in a minute. */
export async function readRules() {
  if (!rules || Date.now() - rules.at > 60_000) rules = { at: Date.now(), answer: get("/v1/rules") };
  try {
    return await rules.answer;
  } catch (problem) {
    rules = null;
    throw problem;
  }
}
