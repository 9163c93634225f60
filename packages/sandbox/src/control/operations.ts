/** What a test in any language may do with a sandbox. */

import { existsSync, realpathSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { TSchema } from "typebox";
import { type Static, type TObject, type TProperties, Type } from "typebox";
import { parseScenario } from "../scenario/scenario.js";
import type { ControlledSandbox } from "./controlled-sandbox.js";

const RECORDING_BYTES = 64 * 2 ** 20;
const NOTHING = Type.Object({}, { additionalProperties: false });
const SYMBOL = Type.String({ minLength: 1, maxLength: 24, description: "Such as BTCUSD." });
const DURATION = Type.Union([Type.Number({ minimum: 0 }), Type.String({ maxLength: 40 })], {
  description: 'Milliseconds, or text such as "1h" or "2s".',
});
const ID = Type.String({ minLength: 1, maxLength: 16 });
const OVER = {
  isOver: Type.Boolean(),
  problem: Type.Union([Type.String(), Type.Null()], { description: "Why it ended too early." }),
};
const SCENARIO = Type.Object({
  name: Type.String(),
  leftMs: Type.Number({ description: "Until its end, of the venue's time." }),
  ...OVER,
});
const counts = (description: string) => Type.Record(Type.String(), Type.Integer(), { description });
const REPLAY = Type.Object({
  bookUpdates: Type.Integer({ description: "Changes of levels so far." }),
  trades: Type.Integer(),
  recordedMs: Type.Number({ description: "Of the recording, so far." }),
  elapsedMs: Type.Number({ description: "Of the machine's clock, so far." }),
  ignored: counts("Rows of markets that the sandbox does not have, by market."),
  refused: counts("Orders of the recording that the venue refused or ended, by reason."),
  ...OVER,
});
const orNull = (schema: TSchema, description: string) =>
  Type.Union([schema, Type.Null()], { description });
const STATE = Type.Object({
  url: Type.String({ description: "The venue's gateway." }),
  time: Type.Integer({ description: "The venue's time, Unix milliseconds." }),
  isManual: Type.Boolean({ description: "Whether time moves by `advance` alone." }),
  speed: Type.Number({ description: "Times that of the clock; 0 in manual time." }),
  measuredSpeed: Type.Number({
    description: "How fast it was in the last seconds: less where the machine cannot keep `speed`.",
  }),
  position: Type.Integer({ description: "The last position of the log." }),
  seed: Type.Integer(),
  scenario: orNull(SCENARIO, "That plays, or was the last to play."),
  replay: orNull(REPLAY, "The recording that plays, or was the last to play."),
});
const WAIT = Type.Optional(
  Type.Boolean({
    description:
      "By default the answer comes at the end, and in manual time the time passes. false: at once; what is played goes on as time passes, and `GET /state` says how far it is.",
  }),
);
const NEXT = {
  next: Type.Optional(Type.Integer({ minimum: 1, description: "How many; 1 by default." })),
  operations: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 16,
      description: "Their names in the venue's OpenAPI document; by default all that place orders.",
    }),
  ),
};
const strict = { additionalProperties: false };

/** Changes the venue, and answers where it is then. */
function change<F extends TProperties>(operation: {
  readonly path: string;
  readonly summary: string;
  readonly body: F;
  readonly bodyBytes?: number;
  run(sandbox: ControlledSandbox, body: Static<TObject<F>>): unknown;
}): ControlOperation {
  return control({
    ...operation,
    method: "POST",
    body: Type.Object(operation.body, strict),
    answer: STATE,
    run: async (sandbox, body) => {
      await operation.run(sandbox, body);
      return stateOf(sandbox);
    },
  });
}

export const CONTROL_OPERATIONS: readonly ControlOperation[] = [
  control({
    method: "GET",
    path: "/state",
    summary: "Where the venue is, and what time it is there.",
    body: NOTHING,
    answer: STATE,
    run: async (sandbox) => stateOf(sandbox),
  }),
  change({
    path: "/advance",
    summary: "Lets time pass; in manual time only.",
    body: { duration: DURATION },
    run: (sandbox, { duration }) => sandbox.venue.advance(duration),
  }),
  change({
    path: "/time",
    summary: "Lets time go at a speed of the clock's from now on; 0: it stands until `advance`.",
    body: { speed: Type.Number({ minimum: 0, maximum: 10_000 }) },
    run: (sandbox, { speed }) => sandbox.venue.setTime(speed === 0 ? "manual" : { speed }),
  }),
  change({
    path: "/price",
    summary: "Sets an index, or moves it there evenly within a time.",
    body: {
      symbol: SYMBOL,
      price: Type.Number({ exclusiveMinimum: 0 }),
      within: Type.Optional(DURATION),
    },
    run: (sandbox, { symbol, price, within = 0 }) => sandbox.venue.price(symbol, price, { within }),
  }),
  change({
    path: "/crash",
    summary: "Lets an index fall by a part within a time, which passes in manual time.",
    body: {
      symbol: SYMBOL,
      by: Type.Number({ exclusiveMaximum: 1, description: "0.15 is 15 %; below 0 it rises." }),
      within: Type.Optional(DURATION),
    },
    run: (sandbox, { symbol, by, within = "2s" }) => sandbox.venue.crash(symbol, { by, within }),
  }),
  change({
    path: "/liquidity",
    summary: "Replaces the quotes of a market; without options: takes them away.",
    body: {
      symbol: SYMBOL,
      options: Type.Optional(
        Type.Object(
          {
            levels: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
            notional: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
            spread: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
            step: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
            premium: Type.Optional(Type.Number()),
          },
          strict,
        ),
      ),
    },
    run: (sandbox, { symbol, options }) => sandbox.venue.liquidity(symbol, options ?? false),
  }),
  change({
    path: "/fund",
    summary: "Credits an account with dollars.",
    body: {
      address: Type.String({ pattern: "^(0x)?[0-9a-fA-F]{40}$" }),
      dollars: Type.Number({ exclusiveMinimum: 0, maximum: 1e9 }),
    },
    run: (sandbox, { address, dollars }) => sandbox.venue.fund(address, dollars),
  }),
  control({
    method: "POST",
    path: "/traders",
    summary: "Makes an account with dollars and signs it in.",
    body: Type.Object({ funds: Type.Optional(Type.Number({ minimum: 0, maximum: 1e9 })) }, strict),
    answer: Type.Object({
      id: ID,
      address: Type.String(),
      token: Type.String({ description: "For `Authorization: Bearer`." }),
      sessionKey: Type.String({ description: "Ed25519, hex; `sign` signs with it." }),
      expiresAt: Type.Integer(),
    }),
    run: (sandbox, { funds = 10_000 }) => sandbox.newTrader(funds),
  }),
  control({
    method: "POST",
    path: "/sign",
    summary: "Signs a body for a trader that was made here: the value of `X-Service-Sig`.",
    body: Type.Object({ trader: ID, body: Type.String({ maxLength: 32_768 }) }, strict),
    answer: Type.Object({ signature: Type.String() }),
    run: async (sandbox, { trader, body }) => ({ signature: await sandbox.sign(trader, body) }),
  }),
  change({
    path: "/play",
    summary: "Plays a scenario, by its name or its text; in manual time it passes.",
    body: {
      name: Type.Optional(Type.String({ maxLength: 64 })),
      text: Type.Optional(Type.String({ maxLength: 60_000 })),
      wait: WAIT,
    },
    run: async (sandbox, { name, text, wait }) => {
      if ((name === undefined) === (text === undefined)) {
        throw new RangeError("give either the name of a scenario or its text");
      }
      const scenario = text === undefined ? (name ?? "") : parseScenario(text, "text");
      if (wait === false) sandbox.venue.beginPlay(scenario);
      else await sandbox.venue.play(scenario);
    },
  }),
  change({
    path: "/replay",
    summary: "Plays recorded books, trades and index prices; in manual time they pass.",
    body: {
      files: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), {
          maxItems: 64,
          description: "Paths in the folder in which the sandbox was started, or below.",
        }),
      ),
      texts: Type.Optional(
        Type.Array(
          Type.Object(
            { name: Type.String({ minLength: 1, maxLength: 256 }), text: Type.String() },
            strict,
          ),
          { maxItems: 64, description: "CSV or NDJSON; the name is that of a file." },
        ),
      ),
      depth: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 60, description: "Levels of a side; 20 by default." }),
      ),
      wait: WAIT,
    },
    bodyBytes: RECORDING_BYTES,
    run: async (sandbox, { files = [], texts = [], depth, wait }) => {
      const given = [...files.map(fileHere), ...texts];
      const options = depth === undefined ? {} : { depth };
      if (wait === false) await sandbox.venue.beginReplay(given, options);
      else await sandbox.venue.replay(given, options);
    },
  }),
  change({
    path: "/takers",
    summary: "Has others send market orders at random moments; without options: none do.",
    body: {
      symbol: SYMBOL,
      options: Type.Optional(
        Type.Object(
          {
            rate: Type.Number({ exclusiveMinimum: 0, maximum: 100 }),
            notional: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
            side: Type.Optional(Type.Union([Type.Literal("long"), Type.Literal("short")])),
          },
          strict,
        ),
      ),
    },
    run: (sandbox, { symbol, options }) => sandbox.venue.takers(symbol, options ?? false),
  }),
  change({
    path: "/drop-sockets",
    summary: "Cuts every WebSocket without a close frame.",
    body: {},
    run: (sandbox) => sandbox.venue.faults.dropSockets(),
  }),
  change({
    path: "/latency",
    summary: "Delays every byte, by half of it each way.",
    body: { ms: Type.Number({ minimum: 0 }), jitter: Type.Optional(Type.Number({ minimum: 0 })) },
    run: (sandbox, latency) => sandbox.venue.faults.latency(latency),
  }),
  change({
    path: "/refuse",
    summary: "Refuses the next requests with a code of the error table, without executing them.",
    body: {
      code: Type.String({ maxLength: 64 }),
      ...NEXT,
      values: Type.Optional(
        Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
          description: "Those of the code's message.",
        }),
      ),
      field: Type.Optional(Type.String({ maxLength: 64 })),
      details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    },
    run: (sandbox, { code, ...options }) => sandbox.venue.faults.refuse(code, options),
  }),
  change({
    path: "/lose-answers",
    summary: "Executes the next requests, and answers `stopped`, as a gateway that lost its core.",
    body: NEXT,
    run: (sandbox, options) => sandbox.venue.faults.loseAnswers(options),
  }),
  change({
    path: "/restart-gateway",
    summary: "Stops the gateway, while the venue goes on, and starts it again on the same port.",
    body: { downFor: Type.Optional(DURATION) },
    run: (sandbox, options) => sandbox.venue.faults.restartGateway(options),
  }),
  change({
    path: "/clear-faults",
    summary: "Forgets what has not gone wrong yet, and ends latency.",
    body: {},
    run: (sandbox) => sandbox.venue.faults.clear(),
  }),
  control({
    method: "POST",
    path: "/save",
    summary: "Saves this moment.",
    body: NOTHING,
    answer: Type.Object({ id: ID }),
    run: async (sandbox) => ({ id: await sandbox.save() }),
  }),
  change({
    path: "/restore",
    summary: "Goes back to a saved moment.",
    body: { id: ID },
    run: (sandbox, { id }) => sandbox.restore(id),
  }),
  change({
    path: "/discard",
    summary: "Forgets a saved moment.",
    body: { id: ID },
    run: (sandbox, { id }) => sandbox.discard(id),
  }),
  control({
    method: "GET",
    path: "/report",
    summary: "What the run of each trader was worth so far; perpgate sandbox report shows it.",
    body: NOTHING,
    answer: Type.Object({ format: Type.String(), seed: Type.Integer() }),
    run: (sandbox) => sandbox.venue.report(),
  }),
  control({
    method: "GET",
    path: "/log-hash",
    summary: "SHA-256 of the commands logged so far.",
    body: NOTHING,
    answer: Type.Object({ hash: Type.String() }),
    run: async (sandbox) => ({ hash: await sandbox.venue.logHash() }),
  }),
];

function stateOf({ venue }: ControlledSandbox) {
  const { url, time, isManual, speed, measuredSpeed, position, seed } = venue;
  const { scenario = null, replayed: replay = null } = venue;
  return { url, time, isManual, speed, measuredSpeed, position, seed, scenario, replay };
}

/** Other users of the machine can call, too: they read nothing else of its owner's. */
function fileHere(path: string): string {
  const folder = realpathSync(".");
  const file = existsSync(path) ? realpathSync(path) : resolve(path);
  if (!relative(folder, file).startsWith("..")) return file;
  throw new RangeError(`${path} is not in ${folder}: start the sandbox there, or give its text`);
}

/** One operation of the control API: its route, its checks, its page in OpenAPI and what it does. */
interface ControlOperation<B extends TObject = TObject> {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly summary: string;
  /** An empty object: the operation takes nothing. */
  readonly body: B;
  readonly answer: TSchema;
  /** By default 64 KiB. */
  readonly bodyBytes?: number;
  run(sandbox: ControlledSandbox, body: Static<B>): Promise<object>;
}

/** Keeps the type of the body between its schema and `run`. */
function control<B extends TObject>(operation: ControlOperation<B>): ControlOperation<B> {
  return operation;
}
