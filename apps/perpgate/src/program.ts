/**
 * Every command beside `serve`, by name. A command is loaded when it is called, so that none pays
 * for what another needs.
 */

import type { Command } from "./cli/command.js";

export interface CommandEntry {
  readonly group: "trade" | "look" | "operate";
  readonly summary: string;
  load(): Promise<Command>;
}

const TRADE: Readonly<Record<string, CommandEntry>> = {
  login: {
    group: "trade",
    summary: "sign in with a wallet key, or with a new one for the testnet",
    load: async () => (await import("./trader/login.js")).LOGIN,
  },
  logout: {
    group: "trade",
    summary: "end the session",
    load: async () => (await import("./trader/logout.js")).LOGOUT,
  },
  buy: {
    group: "trade",
    summary: "buy, or close a short: market, limit or stop",
    load: async () => (await import("./trader/order.js")).BUY,
  },
  sell: {
    group: "trade",
    summary: "sell, or close a long: market, limit or stop",
    load: async () => (await import("./trader/order.js")).SELL,
  },
  cancel: {
    group: "trade",
    summary: "cancel an order, or all",
    load: async () => (await import("./trader/cancel.js")).CANCEL,
  },
  orders: {
    group: "trade",
    summary: "your open orders",
    load: async () => (await import("./trader/orders.js")).ORDERS,
  },
  positions: {
    group: "trade",
    summary: "your positions",
    load: async () => (await import("./trader/positions.js")).POSITIONS,
  },
  fills: {
    group: "trade",
    summary: "your fills",
    load: async () => (await import("./trader/fills.js")).FILLS,
  },
  account: {
    group: "trade",
    summary: "your money and your session",
    load: async () => (await import("./trader/account.js")).ACCOUNT,
  },
  deposit: {
    group: "trade",
    summary: "get test money, or register a transaction",
    load: async () => (await import("./trader/deposit.js")).DEPOSIT,
  },
};

const LOOK: Readonly<Record<string, CommandEntry>> = {
  markets: {
    group: "look",
    summary: "every market with its prices and rules",
    load: async () => (await import("./trader/markets.js")).MARKETS,
  },
  book: {
    group: "look",
    summary: "an order book, live",
    load: async () => (await import("./trader/book.js")).BOOK,
  },
  watch: {
    group: "look",
    summary: "any streams, a line a frame",
    load: async () => (await import("./trader/watch.js")).WATCH,
  },
};

const OPERATE: Readonly<Record<string, CommandEntry>> = {
  keygen: {
    group: "operate",
    summary: "make a key: of a wallet, a session or an attestor",
    load: async () => (await import("./operator/keygen.js")).KEYGEN,
  },
  attest: {
    group: "operate",
    summary: "run attestors beside no venue",
    load: async () => (await import("./operator/attest.js")).ATTEST,
  },
  verify: {
    group: "operate",
    summary: "replay a data folder and check everything in it",
    load: async () => (await import("./operator/verify.js")).VERIFY,
  },
  backup: {
    group: "operate",
    summary: "copy a data folder, also beside a live venue",
    load: async () => (await import("./operator/backup.js")).BACKUP,
  },
  prune: {
    group: "operate",
    summary: "remove the oldest segments of a log, which nobody can verify then",
    load: async () => (await import("./operator/prune.js")).PRUNE,
  },
  bridge: {
    group: "operate",
    summary: "pause deposits, judge one again, settle a reorganised one",
    load: async () => (await import("./operator/bridge.js")).BRIDGE,
  },
  cohort: {
    group: "operate",
    summary: "change who may open positions",
    load: async () => (await import("./operator/cohort.js")).COHORT,
  },
  bench: {
    group: "operate",
    summary: "measure this checkout",
    load: async () => (await import("./operator/bench.js")).BENCH,
  },
};

export const COMMANDS: ReadonlyMap<string, CommandEntry> = new Map(
  Object.entries({ ...TRADE, ...LOOK, ...OPERATE }),
);

/** Names and summaries, a group at a time, for the help of the whole. */
export function commandListLines(): string[] {
  const width = Math.max(...[...COMMANDS.keys()].map(({ length }) => length));
  const linesOf = (group: CommandEntry["group"]) =>
    [...COMMANDS]
      .filter(([, entry]) => entry.group === group)
      .map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    "Trade:",
    ...linesOf("trade"),
    "",
    "Look:",
    ...linesOf("look"),
    "",
    "Operate:",
    `  ${"serve".padEnd(width)}  run the gateway (the default)`,
    ...linesOf("operate"),
  ];
}
