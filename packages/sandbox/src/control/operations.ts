/** What a test in any language may do with a sandbox. */

import { Type } from "typebox";
import { parseScenario } from "../scenario/scenario.js";
import { type ControlOperation, control } from "./control-operation.js";
import type { ControlledSandbox } from "./controlled-sandbox.js";

const NOTHING = Type.Object({}, { additionalProperties: false });
const SYMBOL = Type.String({ minLength: 1, maxLength: 24, description: "Such as BTCUSD." });
const DURATION = Type.Union([Type.Number({ minimum: 0 }), Type.String({ maxLength: 40 })], {
  description: 'Milliseconds, or text such as "1h" or "2s".',
});
const ID = Type.String({ minLength: 1, maxLength: 16 });
const STATE = Type.Object({
  url: Type.String({ description: "The venue's gateway." }),
  time: Type.Integer({ description: "The venue's time, Unix milliseconds." }),
  isManual: Type.Boolean({ description: "Whether time moves by `advance` alone." }),
  speed: Type.Number({ description: "Times that of the clock; 0 in manual time." }),
  position: Type.Integer({ description: "The last position of the log." }),
  seed: Type.Integer(),
});
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

export const CONTROL_OPERATIONS: readonly ControlOperation[] = [
  control({
    method: "GET",
    path: "/state",
    summary: "Where the venue is, and what time it is there.",
    body: NOTHING,
    answer: STATE,
    run: async (sandbox) => stateOf(sandbox),
  }),
  control({
    method: "POST",
    path: "/advance",
    summary: "Lets time pass; in manual time only.",
    body: Type.Object({ duration: DURATION }, strict),
    answer: STATE,
    run: async (sandbox, { duration }) => {
      await sandbox.venue.advance(duration);
      return stateOf(sandbox);
    },
  }),
  control({
    method: "POST",
    path: "/time",
    summary: "Lets time go at a speed of the clock's from now on; 0: it stands until `advance`.",
    body: Type.Object({ speed: Type.Number({ minimum: 0, maximum: 10_000 }) }, strict),
    answer: STATE,
    run: async (sandbox, { speed }) => {
      sandbox.venue.setTime(speed === 0 ? "manual" : { speed });
      return stateOf(sandbox);
    },
  }),
  control({
    method: "POST",
    path: "/price",
    summary: "Sets an index, or moves it there evenly within a time.",
    body: Type.Object(
      {
        symbol: SYMBOL,
        price: Type.Number({ exclusiveMinimum: 0 }),
        within: Type.Optional(DURATION),
      },
      strict,
    ),
    answer: STATE,
    run: async (sandbox, { symbol, price, within = 0 }) => {
      await sandbox.venue.price(symbol, price, { within });
      return stateOf(sandbox);
    },
  }),
  control({
    method: "POST",
    path: "/crash",
    summary: "Lets an index fall by a part within a time, which passes in manual time.",
    body: Type.Object(
      {
        symbol: SYMBOL,
        by: Type.Number({ exclusiveMaximum: 1, description: "0.15 is 15 %; below 0 it rises." }),
        within: Type.Optional(DURATION),
      },
      strict,
    ),
    answer: STATE,
    run: async (sandbox, { symbol, by, within = "2s" }) => {
      await sandbox.venue.crash(symbol, { by, within });
      return stateOf(sandbox);
    },
  }),
  control({
    method: "POST",
    path: "/liquidity",
    summary: "Replaces the quotes of a market; without options: takes them away.",
    body: Type.Object(
      {
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
      strict,
    ),
    answer: STATE,
    run: async (sandbox, { symbol, options }) => {
      await sandbox.venue.liquidity(symbol, options ?? false);
      return stateOf(sandbox);
    },
  }),
  control({
    method: "POST",
    path: "/fund",
    summary: "Credits an account with dollars.",
    body: Type.Object(
      {
        address: Type.String({ pattern: "^(0x)?[0-9a-fA-F]{40}$" }),
        dollars: Type.Number({ exclusiveMinimum: 0, maximum: 1e9 }),
      },
      strict,
    ),
    answer: STATE,
    run: async (sandbox, { address, dollars }) => {
      await sandbox.venue.fund(address, dollars);
      return stateOf(sandbox);
    },
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
  control({
    method: "POST",
    path: "/play",
    summary: "Plays a scenario, by its name or its text; in manual time it passes.",
    body: Type.Object(
      {
        name: Type.Optional(Type.String({ maxLength: 64 })),
        text: Type.Optional(Type.String({ maxLength: 60_000 })),
      },
      strict,
    ),
    answer: STATE,
    run: async (sandbox, { name, text }) => {
      if ((name === undefined) === (text === undefined)) {
        throw new RangeError("give either the name of a scenario or its text");
      }
      const scenario = text === undefined ? (name ?? "") : parseScenario(text, "text");
      await sandbox.venue.play(scenario);
      return stateOf(sandbox);
    },
  }),
  control({
    method: "POST",
    path: "/takers",
    summary: "Has others send market orders at random moments; without options: none do.",
    body: Type.Object(
      {
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
      strict,
    ),
    answer: STATE,
    run: async (sandbox, { symbol, options }) => {
      await sandbox.venue.takers(symbol, options ?? false);
      return stateOf(sandbox);
    },
  }),
  control({
    method: "POST",
    path: "/drop-sockets",
    summary: "Cuts every WebSocket without a close frame.",
    body: NOTHING,
    answer: STATE,
    run: async (sandbox) => {
      sandbox.venue.faults.dropSockets();
      return stateOf(sandbox);
    },
  }),
  control({
    method: "POST",
    path: "/latency",
    summary: "Delays every byte, by half of it each way.",
    body: Type.Object(
      { ms: Type.Number({ minimum: 0 }), jitter: Type.Optional(Type.Number({ minimum: 0 })) },
      strict,
    ),
    answer: STATE,
    run: async (sandbox, latency) => {
      sandbox.venue.faults.latency(latency);
      return stateOf(sandbox);
    },
  }),
  control({
    method: "POST",
    path: "/refuse",
    summary: "Refuses the next requests with a code of the error table, without executing them.",
    body: Type.Object(
      {
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
      strict,
    ),
    answer: STATE,
    run: async (sandbox, { code, ...options }) => {
      sandbox.venue.faults.refuse(code, options);
      return stateOf(sandbox);
    },
  }),
  control({
    method: "POST",
    path: "/lose-answers",
    summary: "Executes the next requests, and answers `stopped`, as a gateway that lost its core.",
    body: Type.Object(NEXT, strict),
    answer: STATE,
    run: async (sandbox, options) => {
      sandbox.venue.faults.loseAnswers(options);
      return stateOf(sandbox);
    },
  }),
  control({
    method: "POST",
    path: "/restart-gateway",
    summary: "Stops the gateway, while the venue goes on, and starts it again on the same port.",
    body: Type.Object({ downFor: Type.Optional(DURATION) }, strict),
    answer: STATE,
    run: async (sandbox, options) => {
      await sandbox.venue.faults.restartGateway(options);
      return stateOf(sandbox);
    },
  }),
  control({
    method: "POST",
    path: "/save",
    summary: "Saves this moment.",
    body: NOTHING,
    answer: Type.Object({ id: ID }),
    run: async (sandbox) => ({ id: await sandbox.save() }),
  }),
  control({
    method: "POST",
    path: "/restore",
    summary: "Goes back to a saved moment.",
    body: Type.Object({ id: ID }, strict),
    answer: STATE,
    run: async (sandbox, { id }) => {
      await sandbox.restore(id);
      return stateOf(sandbox);
    },
  }),
  control({
    method: "POST",
    path: "/discard",
    summary: "Forgets a saved moment.",
    body: Type.Object({ id: ID }, strict),
    answer: STATE,
    run: async (sandbox, { id }) => {
      sandbox.discard(id);
      return stateOf(sandbox);
    },
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
  const { url, time, isManual, speed, position, seed } = venue;
  return { url, time, isManual, speed, position, seed };
}
