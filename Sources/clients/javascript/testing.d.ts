/** A store in memory, for `open({ storage })`; another `open` of the same one is a restart. */
export class MemoryStorage {}

/** A clock that only the test moves. */
export class TestClock {
  constructor(options?: { now?: number; random?: () => number });
  now: () => number;
  random: () => number;
  setTimeout: (body: () => void, milliseconds: number) => any;
  clearTimeout: (timer: any) => void;
  /** Moves the clock and calls functions that become due. */
  advance(milliseconds: number): Promise<void>;
  /** Sets the clock without calling anything. */
  set(moment: number): void;
}

/** The text of the body of a request, packed with gzip or not. */
export function bodyText(init: RequestInit): Promise<string>;

/** A request that waits for its answer. */
export class HeldRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly text: string;
  readonly json: any;
  readonly isAnswered: boolean;
  /** `breakAt`: the connection breaks after so many bytes. */
  answer(status: number, body?: unknown, options?: { headers?: Record<string, string>; breakAt?: number }): void;
  /** Breaks the connection before there is an answer. */
  fail(error?: Error): void;
}

/** A server with scripted answers. */
export class ScriptedServer {
  constructor(options?: { rules?: any; records?: { resource: string; id: any; record: any }[]; feed?: string; revision?: number });
  readonly url: string;
  readonly fetch: typeof fetch;
  readonly requests: HeldRequest[];
  rules?: any;
  records?: { resource: string; id: any; record: any }[];
  /** Answers requests to a path; if a handler returns nothing, the next handler runs. */
  handle(path: string, handler: (request: HeldRequest) => void): void;
  /** The next request that nothing has answered. */
  request(): Promise<HeldRequest>;
}

/** Starts the real gateway on a SQLite file. In Node. */
export function startGateway(options: {
  program: string; rules: string; database: string; sql?: string; options?: string[]; port?: number;
}): Promise<{ readonly url: string; readonly log: string; stop(): Promise<void>; kill(): Promise<void>; restart(): Promise<void> }>;
