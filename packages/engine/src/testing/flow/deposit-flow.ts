/**
 * Seeded streams of commands around deposits: registrations, votes of attestors that agree, differ,
 * change their mind and are changed, credits that pass the bound on all deposits, and a little
 * trading with the money. The stream looks at an engine, to which every command that it yields must
 * be applied before the next is asked for.
 */

import type { Random } from "@perpgate/protocol/random";
import type { AttestDeposit, AttestedCredit, Command } from "../../commands.js";
import { MAX_DEPOSITS_MICROS, type VenueConfig } from "../../config.js";
import type { Engine } from "../../engine.js";
import { genesis, openSession, plainOrder } from "../commands.js";
import { indexSlot } from "../index-slot.js";
import { BTC, USD, venueConfig } from "./listing.js";

const START_MS = 1_750_000_000_123;
const TRADERS = 5;
const HASHES = 6;
const CHAINS = ["ethereum", "tron"];
const TOKENS = ["USDC", "USDT"];
const REASONS = ["transaction_not_found", "other_token", "receipt_failed"];
const VERDICTS: readonly AttestDeposit["verdict"][] = [
  "confirming",
  "confirming",
  "credit",
  "credit",
  "reject",
  "reorged",
];
/** What one deposit brings; the venue has room for a few dozen of them. */
const CREDIT = 1_000 * USD;
const ROOM = 30;

export type DepositFlow = "dev" | "chain";

export function* depositCommands(
  flow: DepositFlow,
  random: Random,
  count: number,
  engine: Engine,
): Generator<Command> {
  const stream = new Stream(random, engine);
  yield* stream.opening(flow);
  for (let sent = 0; sent < count; sent++) yield stream.next();
}

class Stream {
  private readonly sessions: number[] = [];
  private nonce = 0;

  constructor(
    private readonly random: Random,
    private readonly engine: Engine,
  ) {}

  *opening(flow: DepositFlow): Generator<Command> {
    const config: VenueConfig = {
      ...venueConfig([BTC], {
        fund: 1_000 * USD,
        cap: 0,
        // The first account leaves room for a few credits.
        credit: MAX_DEPOSITS_MICROS - ROOM * CREDIT,
        maxOpenOrders: 12,
      }),
      attestorKind: flow,
      ...(flow === "chain" ? { attestors: 4, attestorQuorum: 2 } : {}),
    };
    yield genesis(START_MS, config);
    yield this.index(START_MS, BTC.startIndex);
    yield this.signIn(TRADERS);
    const times = { stampMs: START_MS, expiresAtMs: START_MS + 60_000 };
    yield { kind: "Configure", ...times, config: { ...config, devCreditMicros: CREDIT } };
    for (let trader = 0; trader < TRADERS; trader++) yield this.signIn(trader);
  }

  next(): Command {
    const kind = this.random.weighted({
      tick: 20,
      register: 15,
      vote: 45,
      operator: 3,
      order: 12,
      index: 4,
      signIn: 2,
      configure: 2,
    });
    const stampMs = this.engine.state.timeMs + this.random.int(0, 50);
    if (kind === "tick") return this.tick();
    if (kind === "register") return this.register();
    if (kind === "vote") return this.vote();
    if (kind === "operator") return this.operator();
    if (kind === "order") return this.order();
    if (kind === "signIn") return this.signIn(this.random.int(0, TRADERS - 1));
    if (kind === "configure") return this.configure();
    return this.index(stampMs, this.aroundStart(0.03));
  }

  private index(stampMs: number, indexTicks: number): Command {
    const slot = indexSlot(this.engine.state, 0);
    return { kind: "UpdateIndex", stampMs, market: 0, indexTicks, slot };
  }

  private tick(): Command {
    const slot = this.engine.state.lastTickMs / 200 + this.random.int(1, 2);
    return { kind: "Tick", slot };
  }

  private signIn(trader: number): Command {
    const { random } = this;
    this.sessions[trader] = this.engine.seq + 1;
    return openSession({
      stampMs: START_MS,
      address: address(trader),
      tokenHash: random.hex(64),
      siweNonce: random.hex(16),
      siweNonceUntilMs: START_MS + random.int(1_000, 60_000),
    });
  }

  private register(): Command {
    const { random } = this;
    return {
      kind: "RegisterDeposit",
      stampMs: this.engine.state.timeMs,
      session: random.pick(this.sessions),
      chain: random.pick(CHAINS),
      txHash: random.int(1, HASHES).toString(16).padStart(64, "0"),
      token: random.pick(TOKENS),
    };
  }

  private operator(): Command {
    const { random, engine } = this;
    const stampMs = engine.state.timeMs;
    const open = [...engine.state.deposits.byId.values()].filter(
      (deposit) => deposit.reorged !== "" && deposit.reorgSettledAtMs === 0,
    );
    const reorged = random.chance(0.5) ? open[0] : undefined;
    const depositId = reorged?.id ?? this.someDeposit();
    const some = random.pick([
      "pause",
      "resume",
      "resume",
      "rejudge",
      "rejudge",
      "settle",
    ] as const);
    const kind = reorged === undefined ? some : "settle";
    if (kind === "rejudge")
      return { kind: "RejudgeDeposit", stampMs, expiresAtMs: stampMs + 60_000, depositId };
    if (kind === "settle")
      return { kind: "SettleReorgedDeposit", stampMs, expiresAtMs: stampMs + 60_000, depositId };
    const scope = random.pick([...CHAINS, ...TOKENS, "no scope"]);
    return {
      kind: "PauseDeposits",
      stampMs,
      expiresAtMs: stampMs + 60_000,
      scope,
      isPaused: kind === "pause",
    };
  }

  private someDeposit(): number {
    const ids = [...this.engine.state.deposits.byId.keys()].sort((a, b) => a - b);
    return ids.length === 0 || this.random.chance(0.02) ? 0 : this.random.pick(ids);
  }

  /** Few figures to choose from, so that attestors often say the same and often tie. */
  private vote(): Command {
    const { random, engine } = this;
    const depositId = this.someDeposit();
    const verdict = random.pick(VERDICTS);
    return {
      kind: "AttestDeposit",
      stampMs: engine.state.timeMs,
      attestor: random.int(0, 4),
      depositId,
      verdict,
      votedAtMs: Math.max(0, engine.seq - (random.chance(0.1) ? random.int(0, 50) : 0)),
      confirmations: random.int(4, 6),
      required: random.pick([12, 20]),
      credits: verdict === "credit" ? this.credits(depositId) : [],
      reason: verdict === "reject" || verdict === "reorged" ? random.pick(REASONS) : "",
      ...(verdict === "credit" ? this.part(depositId) : {}),
    };
  }

  /** Every fourth deposit is credited in three parts; a few votes are about another part. */
  private part(depositId: number): { part?: number; parts?: number } {
    if (depositId % 4 !== 1) return {};
    const credited = this.engine.state.deposits.byId.get(depositId)?.creditedParts ?? 0;
    return { part: this.random.chance(0.1) ? this.random.int(0, 4) : credited + 1, parts: 3 };
  }

  /** Mostly what the others say; one of the senders has never signed in. */
  private credits(depositId: number): AttestedCredit[] {
    const { random } = this;
    const sender = depositId % (TRADERS + 1);
    const amountMicros = CREDIT * random.pick([1, 1, 1, 2]);
    const first = { address: address(sender), amountMicros, logIndex: 3 };
    const credits = [depositId % 2 === 0 ? first : { ...first, token: "USDT" }];
    if (depositId % 3 !== 0) return credits;
    const second = { address: address(0), amountMicros: 1, logIndex: 1 };
    return random.chance(0.5) ? [...credits, second] : [second, ...credits];
  }

  private order(): Command {
    const { random } = this;
    const isLimit = random.chance(0.7);
    return plainOrder({
      stampMs: this.engine.state.timeMs,
      session: random.pick(this.sessions),
      nonce: this.nonce++,
      side: random.chance(0.5) ? 1 : -1,
      type: isLimit ? 1 : 0,
      marginMicros: random.int(1, 400) * USD,
      leverage: random.int(1, 40),
      priceTicks: isLimit ? this.aroundStart(0.02) : 0,
      reduceOnly: random.chance(0.1),
    });
  }

  private configure(): Command {
    const { random, engine } = this;
    const current = engine.state.config!;
    const stampMs = engine.state.timeMs;
    if (current.attestorKind === "dev") {
      const devCreditMicros = CREDIT * random.pick([1, 2, ROOM]);
      return {
        kind: "Configure",
        stampMs,
        expiresAtMs: stampMs + 60_000,
        config: { ...current, devCreditMicros },
      };
    }
    const attestors = random.int(2, 5);
    const attestorQuorum = Math.min(attestors, random.pick([1, 2, 2, 3]));
    const config = { ...current, attestors, attestorQuorum };
    if (random.chance(0.5))
      return { kind: "Configure", stampMs, expiresAtMs: stampMs + 60_000, config };
    const replacedAttestors = [0, 1, 2, 3, 4].filter(() => random.chance(0.3));
    return { kind: "Configure", stampMs, expiresAtMs: stampMs + 60_000, config, replacedAttestors };
  }

  private aroundStart(share: number): number {
    return Math.round(BTC.startIndex * (1 + share * (this.random.next() - 0.5)));
  }
}

function address(trader: number): string {
  return (trader + 1).toString(16).padStart(40, "0");
}
