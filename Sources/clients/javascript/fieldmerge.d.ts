/**
 * A value as JSON has it. An integer beyond ±2^53 is a BigInt. Any other number that JavaScript would round is a `String` object
 * of its digits.
 */
export type JSONValue = null | boolean | number | bigint | string | String | JSONValue[] | { [name: string]: JSONValue };

/** A key: a scalar, or an array for a key of several columns; a temporary one begins with `tmp:`. */
export type ID = string | number | (string | number)[];

/** `{id, section: {field: value}, list: [{id, field: value}]}`. Name your own types: `store.record<Shopper>("shoppers", 123)`. */
export interface FieldMergeRecord {
  id: any;
  /** The reason why the gateway cannot read the record now. The values are from the last successful read. */
  problem?: Problem;
  [section: string]: any;
}

/** The gateway's description of an error: a code, a sentence, and more members (RFC 9457). */
export interface Problem {
  code: string;
  title?: string;
  detail?: string;
  status?: number;
  retry?: boolean;
  path?: string;
  [member: string]: any;
}

/** Why something could not be done here. */
export class FieldMergeError extends Error {
  constructor(code: string, message: string, more?: { path?: string; near?: string; unsent?: number; cause?: unknown });
  /** Of `invalid-form`: the message of each field, by path. */
  messages?: { [path: string]: string };
  code: string;
  /** The place in the record, such as `groceries[0].quantity`. */
  path?: string;
  /** The probable name. */
  near?: string;
  /** Of `signOut`: how many edits were not sent. */
  unsent?: number;
  /** Of `newer-store`: returns all that the store contains, each value with its table and its key. */
  export?: () => Promise<unknown[][]>;
}

/** The decisions about an entry. A second decision on an entry does nothing and resolves with null. */
interface Decisions {
  /** The name of the entry in `store.conflicts()`. */
  name: string;
  /** Makes `new` an edit of what the database contains now. */
  takeMine(): Promise<Ticket | null>;
  /** Makes `current` an edit, unless the database contains it. */
  takeTheirs(): Promise<Ticket | null>;
  /** Takes the entry out of the list and changes nothing. */
  dismiss(): Promise<void>;
}

/** A place that both sides changed. */
export interface Conflict extends Decisions {
  kind: "conflict";
  resource: string;
  id: ID;
  section: string;
  item?: ID;
  /** Left out if the conflict is about a whole row. */
  group?: string;
  outcome: string;
  /** The base: the value that the user saw. */
  old: JSONValue;
  /** The value that another client had written. */
  current: JSONValue;
  /** The value that the user wrote. */
  new: JSONValue;
  /** The value that the database contains after the answer. */
  written: JSONValue;
  /** The last push that wrote `current`; null if it is unknown. */
  by: { who: string | null; device: string | null; at?: string; entry: number } | null;
}

/** An edit that was not sent yet, and the value below it has changed. */
export interface Overtaken extends Decisions {
  kind: "overtaken";
  resource: string;
  id: ID;
  section: string;
  item?: ID;
  group: string;
  old: JSONValue;
  current: JSONValue;
  new: JSONValue;
  /** The push that changed it; null if it is unknown. */
  by: { who: string | null; device: string | null; entry: number } | null;
  /** The open form that contains the edit. Such an event is not stored and not listed. */
  draft?: Draft;
  /** Accepts `current` as the base of the edit, which ends the conflict. If the edit was sent meanwhile, `new` is a new edit. */
  keepMine(): Promise<Ticket | null>;
}

/** A form: an edit whose base is the record as its user saw it. Nothing is stored before `save()`. */
export interface Draft<T = any> {
  /** The record when the form was opened or last saved; null for a new record. */
  readonly base: T | null;
  /** The working copy, which the app changes as inside `edit`. */
  readonly record: T;
  /** Makes one edit of the groups that changed since the form was opened or last saved. */
  save(): Promise<Ticket>;
  /** Ends the form without an edit. */
  close(): void;
}

/** The rules of a field. */
export interface FieldRules {
  type: string;
  nullable: boolean;
  minimum?: JSONValue;
  maximum?: JSONValue;
  precision?: number;
  scale?: number;
  maximumCharacters?: number;
  maximumBytes?: number;
  /** The members of an ENUM or SET. */
  members?: string[];
  fraction?: number;
  bits?: number;
  /** The resource of which the field contains an id. */
  references?: string;
  /** The group of the field; absent for a read-only field. */
  group?: string;
  /** The policy if two clients change the group: `client-wins`, `server-wins`, `reject`. */
  policy?: string;
  merge?: JSONValue;
  transitions?: JSONValue;
  /** Whether this client may change the field, in some rows at least. */
  mayWrite: boolean;
  /** Whether it may set the field in a new row. */
  mayCreate: boolean;
}

export interface ResourceRules {
  resource: string;
  description?: string;
  mayCreate: boolean;
  mayDelete: boolean;
  sections: { [section: string]: { kind: "root" | "singleton" | "list"; key?: JSONValue; fields: { [field: string]: FieldRules } } };
}

/** A change of another client to a group that the form has changed too. */
export interface FormConflict {
  section: string;
  item?: ID;
  /** Left out if another client deleted the whole row. */
  group?: string;
  old: JSONValue;
  /** The value in the store; null if the row was deleted. */
  current: JSONValue;
  new: JSONValue;
  /** Accepts `current` as the base: `save()` makes an edit from `current` to `new`. A deleted row returns only if the rules restore it. */
  keepMine(): Promise<void>;
  /** Makes `current` the value of the form. */
  takeTheirs(): Promise<void>;
}

/** A field of a form, bound to an HTML input. */
export interface FormField {
  readonly path: string;
  readonly item?: ID;
  readonly rules: Partial<FieldRules> & { type: string };
  /** The value in the working copy. */
  readonly value: any;
  /** The value for an HTML input: a text, a boolean, an array for a SET. */
  readonly input: any;
  /** Why the input is no value of the field: a sentence, and a word for programs. */
  readonly message: string | null;
  readonly code: "required" | "too-long" | "not-a-number" | "not-a-member" | "not-a-date" | "not-a-time" | "not-json" | "invalid-value" | null;
  readonly isValid: boolean;
  readonly isDirty: boolean;
  readonly mayWrite: boolean;
  /** Whether the record has the row of the field. */
  readonly isThere: boolean;
  readonly conflict: FormConflict | null;
  /**
   * Takes the `value` of an HTML input, or `checked` of a checkbox. Empty is null if the field may be null. The `value` of
   * `datetime-local` is in the time zone of this device if the column is a TIMESTAMP.
   *
   * @throws {FieldMergeError} `read-only`
   */
  set(input: unknown): void;
}

/** A form whose unedited groups follow the store. */
export interface Form<T = any> {
  readonly id: ID;
  /** The record that the user saw; null for a new record. */
  readonly base: T | null;
  /** The working copy. Use it to add and remove items of lists. */
  readonly record: T;
  readonly isDirty: boolean;
  readonly isValid: boolean;
  /** Whether the record was deleted, or is no longer this client's. */
  readonly isGone: boolean;
  readonly isClosed: boolean;
  /** The messages of inputs that are no values, by path. */
  readonly messages: { [path: string]: string };
  readonly conflicts: FormConflict[];
  /**
   * A field by `section.field`, or by `list.field` and the id of the item.
   *
   * @throws {FieldMergeError} `unknown-section`, `unknown-field`, `no-such-record`
   */
  field(path: string, item?: ID): FormField;
  /** Calls back now, and after each change of the form or the record. */
  subscribe(callback: (form: Form<T>) => void): () => void;
  /**
   * Makes one edit of the changes, or of a part: `section` or `section.group`, and the id of an item. A form of a new
   * record or of a refused edit is saved completely.
   *
   * @throws {FieldMergeError} `invalid-form` while an input of it is no value, with `path` and `messages`
   */
  save(path?: string, item?: ID): Promise<Ticket>;
  /** Drops the changes, or a part of them, and shows the record of the store. */
  revert(path?: string, item?: ID): Promise<void>;
  /** Ends the form without an edit. */
  close(): void;
}

/** A push without an answer. */
export interface UnsentEdit {
  name: string;
  resource: string;
  id: ID;
  edits: { resource: string; id: ID; changeset: any }[];
  /** `sending` if the gateway may have it. */
  state: "draft" | "sending";
  /**
   * Removes a draft from the queue. Later edits of its groups get its `old`. Edits that use its new rows are removed too.
   *
   * @throws {FieldMergeError} `sending`
   */
  discard(): Promise<void>;
}

/** A refused push. It blocks nothing, and is kept until the app decides. */
export interface RefusedEdit {
  name: string;
  resource: string;
  id: ID;
  problem: Problem;
  /** Paths of the groups that the refusal names: `section.group`, `list[ID].group`. */
  faulty: string[];
  /** The record in the store; null if there is none. */
  record: FieldMergeRecord | null;
  /** All that was pushed together. */
  edits: { resource: string; id: ID; problem?: Problem; changeset: any }[];
  /**
   * Sends it again, under a new key. `without` leaves parts of the entry's record out: `section`, `section.group`, `list[ID]`,
   * `list[ID].group`. They stay in the list.
   *
   * @throws {FieldMergeError} `unknown-path`, `nothing-left`
   */
  resend(options?: { without?: string[] }): Promise<Ticket | null>;
  discard(): Promise<void>;
  /**
   * Opens a form with the values of the entry. A save of the form removes the entry from the list.
   *
   * @throws {FieldMergeError} `several-records`, `no-such-record`, `deletion`, `field-removed`, `not-refused`
   */
  restore(): Promise<Draft>;
  /** The same as a form with fields. */
  form(): Promise<Form>;
}

export interface Outcome {
  status: "merged" | "refused" | "discarded";
  conflicts: Conflict[];
  problem: Problem | null;
  /** The record at that time. */
  record: FieldMergeRecord | null;
  records?: { resource: string; id: ID; record: FieldMergeRecord | null }[];
}

/** The handle of an edit. */
export class Ticket {
  private constructor();
  /** The name by which `store.ticket` finds it. */
  readonly name: string;
  /** The record's id, which may be temporary. */
  readonly id: any;
  readonly resource: string;
  readonly records: { resource: string; id: ID }[];
  readonly outcome: Promise<Outcome>;
  wait(options?: { signal?: AbortSignal }): Promise<Outcome>;
  /** The outcome; null if there is none yet. */
  peek(): Promise<Outcome | null>;
}

export type Phase = "idle" | "pulling" | "pushing" | "waiting" | "offline" | "needsAuth" | "needsUpgrade" | "closed";

export interface Status {
  phase: Phase;
  /** Edits of records that have no answer yet. */
  unsent: number;
  refused: number;
  progress: { done: number; total: number | null } | null;
  /** Milliseconds since 1970, by this device's clock. */
  lastSynced: number | null;
  nextTry: number | null;
  revision: number | null;
  /** Whether the browser keeps the store if its disk is full; null if this is unknown. */
  persisted?: boolean | null;
  /** With `needsUpgrade`: the message for the user, and the address of a newer version. */
  message: string | null;
  link: string | null;
  problem: Problem | null;
}

export interface SyncReport {
  phase: Phase;
  sent: number;
  merged: number;
  refused: number;
  conflicts: number;
  changes: number;
  problem?: Problem;
}

export interface Transaction {
  record<T = FieldMergeRecord>(resource: string, id: ID): Promise<T | null>;
  records<T = FieldMergeRecord>(resource: string): Promise<T[]>;
  edit<T = any>(resource: string, id: ID, change: (record: T) => unknown): Promise<{ id: ID }>;
  create<T = any>(resource: string, change?: (record: T) => unknown): Promise<{ id: ID }>;
  delete(resource: string, id: ID): Promise<void>;
}

export interface Change {
  resource: string;
  id: ID;
  before: FieldMergeRecord | null;
  record: FieldMergeRecord | null;
  by: unknown;
  /** Edits this record, in the same local transaction. */
  edit(change: (record: any) => void): Promise<unknown>;
}

/** Ends the subscription when called; also an async iterator of the values. */
export interface Subscription<T> extends AsyncIterable<T> {
  (): void;
  next(): Promise<IteratorResult<T>>;
  return(): Promise<IteratorResult<T>>;
}

type Scalar = string | number | bigint | boolean | null;

/** A value (equal), a list (one of its values), or an object whose members are joined by AND. */
export type Condition = Scalar | ID[] | Scalar[] | {
  /** At least. */
  from?: Scalar | ID;
  /** Less than. */
  before?: Scalar | ID;
  startsWith?: string;
  not?: Condition;
};

export interface Query {
  /** Conditions by path, joined by AND: `section.field`, `list.field` (any item), `id`. */
  where?: { [path: string]: Condition };
  /** Words. Each word begins a word in a field that `open` names, without regard to case and accents. */
  search?: string;
  /** Paths; `-` reverses. Null sorts first, and the id decides between equal values. */
  sort?: string[];
  limit?: number;
  /** The `next` of an earlier result of this query. */
  after?: string | null;
  /** Paths of references by name: `followed` of the result has the records that they refer to. */
  follow?: { [name: string]: string };
}

/** Records, with the position of the next page; null on the last page. */
export type Result<T, F = { [name: string]: any }> = T[] & {
  readonly next: string | null;
  /** With `follow`: for each record, by name, the referred record; null if the store has none. */
  readonly followed?: { [Name in keyof F]: ReadRecord<F[Name]> | null }[];
};

/**
 * A query whose value follows each change. It is a store of Svelte and a source of React's `useSyncExternalStore`. Records and
 * arrays that have not changed are the same objects as before: do not modify them.
 */
export interface Live<T, F = { [name: string]: any }> extends AsyncIterable<Result<T, F>> {
  /** The result; undefined until the first answer. */
  readonly value: Result<T, F> | undefined;
  readonly isClosed: boolean;
  /** Calls back now, and at most once a frame after that. Returns a function that ends this. */
  subscribe(callback: (value: Result<T, F> | undefined) => void): () => void;
  getSnapshot(): Result<T, F> | undefined;
  close(): void;
}

/** An exact decimal number such as `"12.50"`. */
export type Decimal = `${number}`;
/** A day such as `"2026-11-20"`. */
export type CalendarDate = `${number}-${number}-${number}`;
/** A time without a time zone such as `"2026-11-20T10:00:00"`. */
export type LocalDateTime = `${CalendarDate}T${number}:${number}:${number}`;
/** A moment such as `"2026-11-20T10:00:00Z"`, in UTC. */
export type Timestamp = `${LocalDateTime}Z`;
/** A time such as `"10:00:00"`, from `-838:59:59` to `838:59:59`. */
export type TimeSpan = `${number}:${number}:${number}`;
/** Bytes. */
export type Base64 = string;

declare const resourceName: unique symbol;

/** A record in a type that `fieldmerge types` writes, with the name of its resource. */
export interface TypedRecord<Name extends string> {
  readonly [resourceName]?: Name;
}

/** The name of the resource of a type. */
export type ResourceName<T> = T extends TypedRecord<infer Name> ? Name : string;

type Without<T, Value> = { [K in keyof T]-?: Value extends T[K] ? never : K }[keyof T];
type GivenKeys<T> = Exclude<Without<T, null> & Without<T, undefined>, "id">;

/** A new row: the database fills in missing fields. */
export type NewRow<Row> = Pick<Row, GivenKeys<Row>> & Partial<Pick<Row, Exclude<keyof Row, GivenKeys<Row>>>>;

/** The items of a list inside an edit, which also takes new items. */
export interface EditableList<Row, New> extends Array<Row> {
  push(...items: (Row | New)[]): number;
  unshift(...items: (Row | New)[]): number;
  splice(start: number, count?: number, ...items: (Row | New)[]): Row[];
}

/** A record that was read. Records change inside `edit`. */
export type ReadRecord<T> = T extends string | number | bigint | boolean | null | undefined | String ? T
  : T extends (infer Item)[] ? readonly ReadRecord<Item>[]
    : { readonly [K in keyof T]: ReadRecord<T[K]> };

type Rows<Part> = NonNullable<Part> extends readonly (infer Row)[] ? Row : NonNullable<Part>;
type Sections<T> = Exclude<keyof T & string, "id">;

/** A path of a field: `section.field`, `list.field`, `id`. */
export type RecordPath<T> = "id" | { [S in Sections<T>]: `${S}.${keyof Rows<T[S]> & string}` }[Sections<T>];

type FieldAt<T, Path> = Path extends `${infer S}.${infer F}`
  ? S extends keyof T ? (F extends keyof Rows<T[S]> ? Rows<T[S]>[F] : never) : never
  : Path extends keyof T ? T[Path] : never;
type Value<Field> = Field extends readonly (infer Member)[] ? Member : Field;
type ValueCondition<V> = V | readonly V[] | { from?: V; before?: V; startsWith?: string; not?: ValueCondition<V> };

/** A query whose paths and values the compiler checks. */
export interface TypedQuery<T, F = { [name: string]: any }> extends Omit<Query, "where" | "sort" | "follow"> {
  /** Paths of references by name. The types of their records are those of `F`: `query<{ customer: Customer }>(…)`. */
  follow?: Record<keyof F & string, RecordPath<T>>;
  where?: { [Path in RecordPath<T>]?: ValueCondition<Value<FieldAt<T, Path>>> };
  sort?: (RecordPath<T> | `-${RecordPath<T>}`)[];
}

/** The result of `store.of`: the store's functions, without the resource. */
export interface TypedRecords<T> {
  record(id: ID, options?: { signal?: AbortSignal }): Promise<ReadRecord<T> | null>;
  records(options?: { signal?: AbortSignal }): Promise<ReadRecord<T>[]>;
  query<F = { [name: string]: any }>(query?: TypedQuery<T, F> & { signal?: AbortSignal }): Promise<Result<ReadRecord<T>, F>>;
  count(query?: TypedQuery<T> & { signal?: AbortSignal }): Promise<number>;
  live<F = { [name: string]: any }>(query?: TypedQuery<T, F>): Live<ReadRecord<T>, F>;
  edit(id: ID, change: (record: T) => unknown, options?: { base?: ReadRecord<T> }): Promise<Ticket>;
  draft(id: ID): Promise<Draft<T>>;
  form(id?: ID | null): Promise<Form<T>>;
  rules(): Promise<ResourceRules>;
  /** The sections of the new record are empty, and lists have no items. */
  create(change?: (record: T) => unknown): Promise<Ticket>;
  delete(id: ID): Promise<Ticket>;
  state(id: ID, place?: string, item?: ID): Promise<"clean" | "draft" | "sending" | "refused">;
  observe(id: ID, callback?: (record: ReadRecord<T> | null) => void, options?: { signal?: AbortSignal }): Subscription<ReadRecord<T> | null>;
  observe(callback: (records: ReadRecord<T>[]) => void, options?: { signal?: AbortSignal }): Subscription<ReadRecord<T>[]>;
  observe(): Subscription<ReadRecord<T>[]>;
}

export interface StoreEvents {
  conflict: StoreEvent<Conflict>;
  overtaken: StoreEvent<Overtaken>;
  refused: StoreEvent<Omit<RefusedEdit, "edits">>;
  gone: StoreEvent<{ resource: string; id: ID; record: FieldMergeRecord }>;
  /** The browser has deleted the store, with so many unsent edits. */
  lost: StoreEvent<{ unsent: number }>;
  status: StoreEvent<Status>;
}

/** An event; it also has the members of `detail`. */
export type StoreEvent<T> = Event & { readonly detail: T } & Omit<T, keyof Event>;
export const StoreEvent: { new <T>(type: string, detail: T): Event & { readonly detail: T } };

export interface OpenOptions {
  /** Address of the gateway. */
  server: string | URL;
  /** The user whose records are kept. A store never changes its user. */
  user: string;
  /** A token, or a function that returns a new token within 30 seconds; called again when the gateway refuses the last token. */
  token?: string | (() => string | null | Promise<string | null>);
  /** The resources to keep. (default: all that the user may read) All tabs use the resources of the last opened tab. */
  resources?: string[];
  /**
   * A subset on the device, by resource: only records that match are kept. The gateway filters. All tabs of a store use the
   * filter of the last opened tab.
   */
  keep?: { [resource: string]: { where?: { [path: string]: Scalar | Scalar[] | Scalar[][] | { from?: Scalar; before?: Scalar } } } };
  /** Name and version of the app, `shop-web/3.2`. */
  client?: string;
  /** A file in Node, or `:memory:`. (default: the browser's database) */
  path?: string;
  /** A first snapshot for an empty store (NDJSON, also compressed with gzip). */
  snapshot?: string | URL;
  /** Answers the value of a group in conflict, which becomes an edit, or undefined. */
  onConflict?: (conflict: Conflict) => unknown;
  /** Called for each change of the server when it is stored; may await only its own edits. */
  beforeStore?: (change: Change, t: { edit(resource: string, id: ID, change: (record: any) => void): Promise<unknown> }) => unknown;
  /** Paths to index, by resource. Indexes are built in the background, and used as soon as they are whole. */
  indexes?: { [resource: string]: string[] };
  /** Paths of texts that `search` reads, by resource. They are indexed as well. */
  search?: { [resource: string]: string[] };
  fetch?: typeof fetch;
  clock?: { now(): number; random(): number; setTimeout(body: () => void, milliseconds: number): any; clearTimeout(timer: any): void };
  storage?: unknown;
}

export function open(options: OpenOptions): Promise<FieldMergeStore>;

export class FieldMergeStore extends EventTarget {
  private constructor();
  readonly status: Status;
  onConflict: ((conflict: Conflict) => unknown) | null;
  beforeStore: OpenOptions["beforeStore"] | null;

  record<T = FieldMergeRecord>(resource: string, id: ID, options?: { signal?: AbortSignal }): Promise<T | null>;
  records<T = FieldMergeRecord>(resource: string, options?: { signal?: AbortSignal }): Promise<T[]>;
  /** The records of one resource, with a type that `fieldmerge types` writes: `store.of<Order>("orders")`. */
  of<T = any>(resource: ResourceName<T>): TypedRecords<T>;
  /**
   * The records that match, in order, with unsent edits. Without an index a query reads all records of the resource.
   *
   * @throws {FieldMergeError} `unknown-section`, `unknown-field`, `invalid-query`, `invalid-value`, with the path
   */
  query<T = FieldMergeRecord>(resource: string, query?: Query & { signal?: AbortSignal }): Promise<Result<T>>;
  /** The number of records that match; `sort`, `limit` and `after` are ignored. */
  count(resource: string, query?: Query & { signal?: AbortSignal }): Promise<number>;
  /** Watches a query. An error of the query is reported, and the last value is kept. */
  live<T = FieldMergeRecord>(resource: string, query?: Query): Live<T>;
  /** The same, with the resource as a member of the query. */
  live<T = FieldMergeRecord>(query: Query & { resource: string }): Live<T>;
  /** With `base`, a record that was read earlier, the edit is the difference to it. */
  edit<T = any>(resource: string, id: ID, change: (record: T) => unknown, options?: { base?: FieldMergeRecord }): Promise<Ticket>;
  /** Opens a form. Later changes do not change its base. */
  draft<T = any>(resource: string, id: ID): Promise<Draft<T>>;
  /** Opens a form with fields, messages and conflicts; without an id, for a new record. */
  form<T = any>(resource: string, id?: ID | null): Promise<Form<T>>;
  /** The rules of a resource for this client. */
  rules(resource: string): Promise<ResourceRules>;
  create<T = any>(resource: string, change?: (record: T) => unknown): Promise<Ticket>;
  delete(resource: string, id: ID): Promise<Ticket>;
  /** Several edits as one; the function may run again if another tab edits the same records meanwhile. */
  transaction(body: (t: Transaction) => unknown, options?: { atomic?: "push" | "edit" }): Promise<Ticket>;
  /** The ticket of a name, or the last ticket of a record's id. */
  ticket(id: ID, resource?: string): Promise<Ticket | null>;
  /** The conflicts and overtaken edits without a decision, the oldest first. At most 1,000 that were delivered are kept. */
  conflicts(): Promise<(Conflict | Overtaken)[]>;
  /** The pushes without an answer, in order. */
  unsent(): Promise<UnsentEdit[]>;
  refusedEdits(): Promise<RefusedEdit[]>;
  /**
   * The state of a record, or of a part: `place` is a section, `section.group`, or `section.field` for the field's group.
   * A sent edit is `sending` until there is an answer, also without a network.
   */
  state(resource: string, id: ID, place?: string, item?: ID): Promise<"clean" | "draft" | "sending" | "refused">;

  /**
   * Watches a record, or all of a resource: the callback gets it now and after each change. Records of a list that have not
   * changed are the same objects as before.
   */
  observe<T = FieldMergeRecord>(resource: string, id: ID, callback?: (record: T | null) => void, options?: { signal?: AbortSignal }): Subscription<T | null>;
  observe<T = FieldMergeRecord>(resource: string, callback: (records: T[]) => void, options?: { signal?: AbortSignal }): Subscription<T[]>;
  observe<T = FieldMergeRecord>(resource: string): Subscription<T[]>;

  /** Never rejects for the network or an answer. A started tab that does not lead forwards the sync to the leading tab. */
  /** `deadline`: a Date, or a number of milliseconds from now. A request that is then in progress is aborted, and repeated later. */
  sync(options?: { signal?: AbortSignal; deadline?: number | Date }): Promise<SyncReport>;
  start(): void;
  stop(): void;
  resync(options?: { signal?: AbortSignal }): Promise<SyncReport>;
  close(): Promise<void>;
  signOut(options?: { unsent?: "refuse" | "send" | "discard"; signal?: AbortSignal }): Promise<void>;
  diagnose(): Promise<any>;
  /** The complete content of the store; in Node also as a file. */
  export(path?: string): Promise<any>;

  addEventListener<K extends keyof StoreEvents>(type: K, listener: (event: StoreEvents[K]) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions): void;
  removeEventListener(type: string, listener: ((event: any) => void) | EventListenerOrEventListenerObject | null, options?: boolean | EventListenerOptions): void;
}
