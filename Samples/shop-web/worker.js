/**
 * Keeps the app itself and the modules of the client library, so that it opens without a network.
 *
 * What is kept is answered first, so a page is there at once, and all of it is of one time: modules import each other. With
 * each page that is opened the worker asks whether anything has changed; then everything is fetched anew, and the next page has
 * it. Data are no business of the worker's: the client library keeps them.
 */
const prefix = "shop-web ", wholeMark = "whole", begin = ["./", "app.css", "app.js", "manifest.webmanifest", "icon.svg", "icon-192.png"];

/** The addresses of the modules that a module imports: at once, and perhaps later. */
function imports(text, address) {
  const found = (pattern) => [...text.matchAll(pattern)].map(([, name]) => new URL(name, address).href);
  return [found(/^(?:import|export)\b[^"';()=]*"([./][^"]*)"/gm), found(/\bimport\("([./][^"]*)"\)/g)];
}

/** Fetches the app with all that it imports; null where anything of it is missing. */
async function fetched() {
  const answers = new Map(), needed = new Set(begin.map((name) => new URL(name, registration.scope).href)), open = [...needed];
  while (open.length) {
    const address = open.pop();
    if (answers.has(address)) continue;
    const answer = await fetch(address, { cache: "no-cache" });
    if (!answer.ok && needed.has(address)) return null;
    // What is imported for Node alone is not served.
    if (!answer.ok) continue;
    answers.set(address, answer);
    if (!/javascript/.test(answer.headers.get("content-type"))) continue;
    const [now, later] = imports(await answer.clone().text(), address);
    for (const name of now) needed.add(name);
    open.push(...now, ...later);
  }
  return answers;
}

const timeOf = (name) => Number(name.slice(prefix.length));

/** The newest cache that is whole; undefined where there is none. */
async function newest() {
  const names = (await caches.keys()).filter((name) => name.startsWith(prefix)).sort((one, other) => timeOf(other) - timeOf(one));
  for (const name of names) {
    const cache = await caches.open(name);
    if (await cache.match(wholeMark)) return cache;
  }
}

async function isSame(cache, answers) {
  for (const [address, answer] of answers) {
    const kept = await cache.match(address);
    if (!kept || kept.headers.get("etag") !== answer.headers.get("etag")) return false;
  }
  return true;
}

/** Keeps a new version where there is one; without a network what is kept stays. */
async function renew() {
  const answers = await fetched(), last = await newest();
  if (!answers || (last && (await isSame(last, answers)))) return;
  const name = prefix + Date.now(), cache = await caches.open(name);
  for (const [address, answer] of answers) await cache.put(address, answer);
  await cache.put(wholeMark, new Response());
  for (const other of await caches.keys()) if (other !== name) await caches.delete(other);
}

let last = Promise.resolve();

/** One after the other: what changes while it looks is seen by the next. */
const refresh = () => (last = last.catch(() => {}).then(renew));

addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(refresh());
});

addEventListener("activate", (event) => event.waitUntil(clients.claim()));

addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).pathname.includes("/v1/")) return;
  event.respondWith((async () => {
    const cache = await newest(), page = request.mode === "navigate" ? registration.scope : request;
    return (await cache?.match(page, { ignoreSearch: true, ignoreVary: true })) ?? fetch(request);
  })());
  if (request.mode === "navigate") event.waitUntil(refresh().catch(() => {}));
});
