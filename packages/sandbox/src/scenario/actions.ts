/** What a line of a scenario can do, and how it is written. */

import { PlannedFaults } from "../faults.js";
import type { LiquidityOptions } from "../liquidity.js";
import type { SandboxMarkets } from "../markets.js";
import type { TakerOptions } from "../takers.js";
import { listOf, type Word, type Words } from "./words.js";

/** What the lines of a scenario act on. */
export interface Stage {
  readonly nowMs: number;
  readonly markets: SandboxMarkets;
  readonly faults: PlannedFaults;
  dropSockets(): void;
  restartGateway(downMs: number): Promise<void>;
  restartVenue(): Promise<void>;
}

export type Act = (stage: Stage) => unknown;

interface Action {
  /** As it is written, for docs and problems. */
  readonly usage: string;
  readonly does: string;
  read(words: Words): Act;
}

const SYMBOL = /^[A-Z0-9]{2,24}$/;

function symbolOf(words: Words): string {
  const { text, column } = words.next("a market, such as BTCUSD,");
  if (SYMBOL.test(text)) return text;
  throw words.problem(`expected a market such as BTCUSD, not ${text}`, column);
}

const price: Action = {
  usage: "price MARKET NUMBER|±N% [in TIME]",
  does: "moves the index, immediately or evenly within a time",
  read: (words) => {
    const symbol = symbolOf(words);
    const { text, column } = words.next("a price or a change such as -15%");
    const isPart = /^[+-].*%$/.test(text);
    const value = words.numberIn(isPart ? text.slice(0, -1) : text, "a price", column);
    const isAbove = isPart ? value > -100 : value > 0;
    if (!isAbove) throw words.problem(`no price comes from ${text}`, column);
    const withinMs = words.skip("in") ? words.duration("a time such as 2s") : 0;
    return ({ markets, nowMs }) => {
      const target = isPart ? markets.priceOf(symbol, nowMs) * (1 + value / 100) : value;
      markets.move(symbol, target, nowMs, withinMs);
    };
  },
};

const index: Action = {
  usage: "index MARKET stops|follows",
  does: "ends what the venue gets of the index, or begins it again",
  read: (words) => {
    const symbol = symbolOf(words);
    const isStuck = words.one("index", ["stops", "follows"]) === "stops";
    return ({ markets }) => markets.setStuck(symbol, isStuck);
  },
};

const QUOTED = ["levels", "notional", "spread", "step", "premium"] as const;

const liquidity: Action = {
  usage: "liquidity MARKET none | [levels=N] [notional=N] [spread=N] [step=N] [premium=N]",
  does: "replaces the quotes, by default 20 levels of 50,000 dollars",
  read: (words) => {
    const symbol = symbolOf(words);
    const isNone = words.skip("none");
    const options: LiquidityOptions = Object.fromEntries(numbersOf(words, isNone ? [] : QUOTED));
    return ({ markets, nowMs }) => markets.quote(symbol, isNone ? false : options, nowMs);
  },
};

const takers: Action = {
  usage: "takers MARKET none | rate=N [notional=N] [side=long|short]",
  does: "has others send market orders: `rate` a second, on either side at random",
  read: (words) => {
    const symbol = symbolOf(words);
    if (words.skip("none")) return ({ markets }) => markets.take(symbol, undefined);
    const settings = words.settings(["rate", "notional", "side"]);
    const number = (name: "rate" | "notional"): number | undefined => {
      const word = settings.get(name);
      return word === undefined ? undefined : words.numberIn(word.text, name, word.column);
    };
    const rate = number("rate");
    if (rate === undefined) throw words.problem("takers need a rate, such as rate=2", 1);
    const notional = number("notional");
    const side = sideOf(words, settings.get("side"));
    const options: TakerOptions = {
      rate,
      ...(notional === undefined ? {} : { notional }),
      ...(side === undefined ? {} : { side }),
    };
    return ({ markets }) => markets.take(symbol, options);
  },
};

function sideOf(words: Words, word: Word | undefined): "long" | "short" | undefined {
  if (word === undefined || word.text === "long" || word.text === "short") {
    return word?.text === "long" || word?.text === "short" ? word.text : undefined;
  }
  throw words.problem(`side is long or short, not ${word.text}`, word.column);
}

const market: Action = {
  usage: "market MARKET halt|reduceOnly|resume",
  does: "what an operator does",
  read: (words) => {
    const symbol = symbolOf(words);
    const action = words.one("market", ["halt", "reduceOnly", "resume"]);
    return ({ markets, nowMs }) => markets.control(symbol, action, nowMs);
  },
};

const latency: Action = {
  usage: "latency none | ms=N [jitter=N]",
  does: "delays every byte",
  read: (words) => {
    if (words.skip("none")) return ({ faults }) => faults.delay({ ms: 0 });
    const given = new Map(numbersOf(words, ["ms", "jitter"]));
    const { ms = 0, jitter = 0 } = Object.fromEntries(given);
    words.within(1, () => new PlannedFaults().delay({ ms, jitter }));
    return ({ faults }) => faults.delay({ ms, jitter });
  },
};

const dropSockets: Action = {
  usage: "drop-sockets",
  does: "cuts every WebSocket",
  read: () => (stage) => stage.dropSockets(),
};

const refuse: Action = {
  usage: "refuse CODE [next=N]",
  does: "refuses the next orders; codes whose message has values are for programs",
  read: (words) => {
    const { text: code, column } = words.next("a code of the error table");
    const { next = 1 } = Object.fromEntries(numbersOf(words, ["next"]));
    words.within(column, () => new PlannedFaults().refuse(code, { next }));
    return ({ faults }) => faults.refuse(code, { next });
  },
};

const loseAnswers: Action = {
  usage: "lose-answers [next=N]",
  does: "executes the next orders and answers `stopped`",
  read: (words) => {
    const { next = 1 } = Object.fromEntries(numbersOf(words, ["next"]));
    words.within(1, () => new PlannedFaults().loseAnswers({ next }));
    return ({ faults }) => faults.loseAnswers({ next });
  },
};

const restartGateway: Action = {
  usage: "restart-gateway TIME",
  does: "closes the gateway for that time; the venue goes on",
  read: (words) => {
    const downMs = words.duration("for how long, such as 5s,");
    return (stage) => stage.restartGateway(downMs);
  },
};

const restartVenue: Action = {
  usage: "restart-venue",
  does: "stops the whole venue and starts it again from its data",
  read: () => (stage) => stage.restartVenue(),
};

export const ACTIONS: Readonly<Record<string, Action>> = {
  price,
  index,
  liquidity,
  takers,
  market,
  latency,
  "drop-sockets": dropSockets,
  refuse,
  "lose-answers": loseAnswers,
  "restart-gateway": restartGateway,
  "restart-venue": restartVenue,
};

export function actionOf(words: Words): Action {
  const { text, column } = words.next("an action");
  const action = Object.hasOwn(ACTIONS, text) ? ACTIONS[text] : undefined;
  if (action !== undefined) return action;
  const known = [...Object.keys(ACTIONS), "end"];
  throw words.problem(`no action is called ${text}: there is ${listOf(known)}`, column);
}

function numbersOf<N extends string>(words: Words, names: readonly N[]): [N, number][] {
  return [...words.settings(names)].map(([name, { text, column }]) => [
    name,
    words.numberIn(text, name, column),
  ]);
}
