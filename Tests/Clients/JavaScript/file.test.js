import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FieldMergeError, open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { FileStorage } from "../../../Sources/clients/javascript/file.js";
import { SimulatedGateway } from "./simulated.js";
import { folder } from "./gateway.js";

const all = async (storage) => storage.run(false, async (tx) => Object.fromEntries(await tx.all("t")));

test("a file that is truncated at any position contains whole transactions", async () => {
  const path = join(folder(), "store"), states = [{}];
  const storage = await FileStorage.open(path);
  const sizes = [statSync(path).size];
  for (let number = 1; number <= 6; number++) {
    await storage.run(true, async (tx) => {
      await tx.put("t", "a", { number, text: "é\n" });
      await tx.put("t", `b${number}`, number);
      if (number > 2) await tx.delete("t", `b${number - 2}`);
    });
    states.push(await all(storage));
    sizes.push(statSync(path).size);
  }
  await storage.close();
  const size = statSync(path).size;
  for (let length = size; length >= 0; length--) {
    const cut = join(folder(), "cut");
    copyFileSync(path, cut);
    truncateSync(cut, length);
    const again = await FileStorage.open(cut);
    const whole = sizes.filter((one) => one <= length).length;
    assert.deepEqual(await all(again), states[Math.max(0, whole - 1)], `cut at byte ${length}`);
    // The file can be used further.
    await again.run(true, (tx) => tx.put("t", "on", 1));
    await again.close();
    const third = await FileStorage.open(cut);
    assert.equal((await all(third)).on, 1);
    await third.close();
  }
});

test("a file that is damaged in the middle is not valid", async () => {
  const path = join(folder(), "store"), storage = await FileStorage.open(path);
  for (let number = 0; number < 3; number++) await storage.run(true, (tx) => tx.put("t", "a", number));
  await storage.close();
  const text = readFileSync(path, "utf8").split("\n");
  text[1] = text[1].replace(/.$/, "x");
  writeFileSync(path, text.join("\n"));
  await assert.rejects(FileStorage.open(path), (error) => error instanceof FieldMergeError && error.code === "damaged");
  writeFileSync(path, "something else\n");
  await assert.rejects(FileStorage.open(path), (error) => error.code === "damaged");
});

test("a file is open once", async () => {
  const path = join(folder(), "store"), storage = await FileStorage.open(path);
  await assert.rejects(FileStorage.open(path), (error) => error.code === "in-use");
  await storage.close();
  // The lock of a process that is no more.
  writeFileSync(`${path}.lock`, "999999999");
  await (await FileStorage.open(path)).close();
});

test("a file that another process, thread or container has is in use, until its beats stop", async () => {
  const path = join(folder(), "store"), program = `
    import { open } from ${JSON.stringify(new URL("../../../Sources/clients/javascript/fieldmerge.js", import.meta.url).href)};
    await open({ server: "http://x.test", user: "u", path: ${JSON.stringify(path)} });
    process.stdout.write("open");
    setInterval(() => {}, 1000);`;
  const other = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => other.stdout.once("data", resolve));
  await assert.rejects(FileStorage.open(path), { code: "in-use" });
  const ended = new Promise((resolve) => other.once("exit", resolve));
  other.kill("SIGKILL");
  await ended;
  const storage = await FileStorage.open(path);
  // A process of another container may have the same number, so only the beats decide. A process that lost the lock
  // cannot write.
  writeFileSync(`${path}.lock`, `somebody ${process.pid} 0 elsewhere`);
  await assert.rejects(storage.run(true, (tx) => tx.put("t", "a", 1)), { code: "in-use" });
  await storage.close();
  await (await FileStorage.open(path)).close();
});

test("a file that was written over and over is made small, and loses nothing", async () => {
  const path = join(folder(), "store"), storage = await FileStorage.open(path);
  const text = "x".repeat(10000);
  for (let number = 0; number < 300; number++) await storage.run(true, (tx) => tx.put("t", `k${number % 3}`, { number, text }));
  await storage.close();
  assert.ok(statSync(path).size < 2 ** 21, `${statSync(path).size} bytes`);
  const again = await FileStorage.open(path);
  assert.deepEqual(Object.values(await all(again)).map((value) => value.number).sort(), [297, 298, 299]);
  await again.close();
});

test("a transaction that fails leaves nothing", async () => {
  const storage = await FileStorage.open(join(folder(), "store"));
  await assert.rejects(storage.run(true, async (tx) => {
    await tx.put("t", "a", 1);
    throw new Error("no");
  }), /no/);
  assert.deepEqual(await all(storage), {});
  await storage.close();
});

test("a store in a file belongs to one user, whose gateway may move", async () => {
  const path = join(folder(), "store"), gateway = new SimulatedGateway(null);
  const store = await open({ server: gateway.url, user: "ann", path, fetch: gateway.fetch });
  await store.sync();
  await store.close();
  await assert.rejects(open({ server: gateway.url, user: "bob", path, fetch: gateway.fetch }), (error) => error.code === "other-owner");
  await assert.rejects(open({ server: gateway.url, path, fetch: gateway.fetch }), { code: "invalid-option" });
  await (await open({ server: "http://moved.test", user: "ann", path, fetch: gateway.fetch })).close();
});
