import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { next } from "../../../Sources/clients/javascript/scheduler.js";

const { states, events, conditions, actions, table } = JSON.parse(readFileSync(new URL("../Cases/scheduler.json", import.meta.url)));

/** All combinations of the conditions. */
const worlds = Object.keys(conditions).reduce((all, name) => all.flatMap((world) => [{ ...world, [name]: false }, { ...world, [name]: true }]), [{}]);

for (const state of states) {
  test(`every cell of ${state} follows the table`, () => {
    assert.deepEqual(Object.keys(table[state]), Object.keys(events));
    for (const event of Object.keys(events)) {
      const rows = table[state][event];
      assert.equal(rows.at(-1).when, undefined, "the last row has no condition");
      for (const world of worlds) {
        const row = rows.find(({ when = [] }) => when.every((condition) => world[condition]));
        assert.deepEqual(next(state, event, world), { state: row.state, actions: row.actions }, `${event} ${JSON.stringify(world)}`);
        assert.ok(states.includes(row.state) && row.actions.every((action) => action in actions));
      }
    }
  });
}

/** A number between 0 and 1 from a seed (mulberry32). */
const random = (seed) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let value = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
  return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
};

test("random walks keep the invariants", () => {
  for (let seed = 1; seed <= 500; seed++) {
    const draw = random(seed), pick = (list) => list[Math.floor(draw() * list.length)];
    let state = "idle", unsent = 0, isUnderWay = false, hasTimer = false;
    for (let step = 0; step < 200; step++) {
      // Answers belong to requests, timers to waiting states.
      const possible = Object.keys(events).filter((event) => event !== "close"
        && (event.startsWith("answer.") || event === "token" ? isUnderWay : event === "timer" ? hasTimer : true)
        && (event !== "answer.page" || state === "pulling") && (!["answer.settled", "answer.tooLarge", "answer.history"].includes(event) || state === "pushing"));
      const event = pick(possible);
      if (event === "edit") unsent += 1;
      if (event === "answer.settled") unsent = 0;
      const world = { unsent: unsent > 0, more: draw() < 0.3, fresh: draw() < 0.3, again: draw() < 0.3 };
      const row = next(state, event, world), text = `seed ${seed} step ${step}: ${state} ${event} → ${JSON.stringify(row)}`;
      if (event.startsWith("answer.") || event === "token") isUnderWay = false;
      if (event === "timer") hasTimer = false;
      if (event === "kill") isUnderWay = hasTimer = false;
      for (const action of row.actions) {
        if (["push", "pull", "askToken"].includes(action)) {
          assert.ok(!isUnderWay, `${text}: two requests at once`);
          isUnderWay = true;
        }
        if (action === "abort") isUnderWay = false;
        if (action.startsWith("schedule")) hasTimer = true;
        if (action === "cancelTimer") hasTimer = false;
        if (action === "push") assert.equal(row.state, "pushing", text);
        if (action === "pull") assert.equal(row.state, "pulling", text);
      }
      state = row.state;
      assert.equal(isUnderWay, state === "pushing" || state === "pulling", `${text}: under way`);
      assert.equal(hasTimer, ["waiting", "needsAuth", "needsUpgrade"].includes(state), `${text}: a wait`);
      if (state === "idle" && event !== "kill") assert.equal(unsent, 0, `${text}: an unsent edit rests`);
    }
  }
});
