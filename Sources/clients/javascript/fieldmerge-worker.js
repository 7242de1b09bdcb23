/**
 * The library for service workers, in which `import()` does not exist: all that a store needs to edit and to sync is loaded
 * with this module. It exports the same as `fieldmerge.js`.
 *
 * @example
 * // worker.js, registered with { type: "module" }
 * import { open } from "/client/fieldmerge-worker.js";
 */
import * as count from "./count.js";
import * as decisions from "./decisions.js";
import * as download from "./download.js";
import { bundled } from "./errors.js";
import * as exchange from "./exchange.js";
import * as library from "./fieldmerge.js";
import * as follow from "./follow.js";
import * as forms from "./form.js";
import * as indexeddb from "./indexeddb.js";
import * as indexes from "./indexes.js";
import * as large from "./large.js";
import * as leader from "./leader.js";
import * as lines from "./lines.js";
import * as lists from "./lists.js";
import * as keep from "./keep.js";
import * as live from "./live.js";
import * as query from "./query.js";
import * as regroup from "./regroup.js";
import * as remote from "./remote.js";
import * as signout from "./signout.js";
import * as state from "./state.js";
import * as support from "./support.js";
import * as upgrade from "./upgrade.js";

Object.assign(bundled, count, decisions, download, exchange, follow, forms, indexeddb, indexes, keep, large, leader, library, lines, lists, live, query, regroup, remote, signout, state, support, upgrade);

export * from "./fieldmerge.js";
