/**
 * What only the moment knows of a run: equity and exposure by time, the mark and the middle of the book
 * at orders and fills, refusals and latencies. The rest of a report is read from the history.
 */

import type { Applied, Venue } from "@perpgate/venue";

/** Milliseconds of the venue's time, dollars of equity, dollars of positions at mark (long above 0). */
type Sample = readonly [timeMs: number, equity: number, exposure: number];

export interface TraderRecord {
  readonly address: string;
  readonly samples: Sample[];
  /** Mark at each fill, by the fill's id. */
  readonly marks: Map<string, number>;
  /** Middle of the book before an order arrived, by its position in the log. */
  readonly arrivals: Map<number, number>;
}

/** Requests of one operation, as the gateway sees them: milliseconds of the machine's clock. */
export interface RequestRecord {
  count: number;
  readonly elapsedMs: number[];
  readonly refusals: Map<string, number>;
}

const SAMPLE_MS = 1_000;
/** Beyond it every second sample is dropped, and from then on half as many are taken. */
const MAX_SAMPLES = 4_096;
/** Of one operation; later ones are counted only. */
const MAX_TIMES = 100_000;

export class RunRecorder {
  readonly traders = new Map<number, TraderRecord>();
  readonly requests = new Map<string, RequestRecord>();
  /** By gateway: each counts its own from its start. */
  private readonly refused = new Map<object, ReadonlyMap<string, number>>();
  private readonly middles = new Map<number, number>();
  private sampleMs = SAMPLE_MS;

  constructor(
    private readonly venue: () => Venue,
    private readonly symbols: readonly string[],
  ) {}

  /** Called for every command; `isOwn`: of an account of the sandbox. */
  onCommand(applied: Applied, isOwn: boolean): void {
    const { command, seq } = applied;
    if (command.kind === "OpenSession" && !isOwn) this.add(seq, command.address);
    if (command.kind === "PlaceOrder") this.arrive(command.session, command.market, seq);
    const { views } = this.venue();
    for (const [account, { marks }] of this.traders) {
      for (const { id, symbol } of views.lastFills(account)) {
        marks.set(id, views.ticker(symbol)?.mark ?? 0);
      }
    }
  }

  /** Before an order is sent to the core: where the market is that it meets. */
  noteMiddles(): void {
    const { views } = this.venue();
    for (const [market, symbol] of this.symbols.entries()) {
      const { bid = null, ask = null, mark = null } = views.ticker(symbol) ?? {};
      const middle = bid === null || ask === null ? mark : (bid + ask) / 2;
      if (middle !== null) this.middles.set(market, middle);
    }
  }

  noteRequest(operation: string, elapsedMs: number, refusal: string | undefined): void {
    const found = this.requests.get(operation);
    const record = found ?? { count: 0, elapsedMs: [], refusals: new Map<string, number>() };
    if (found === undefined) this.requests.set(operation, record);
    record.count++;
    if (record.elapsedMs.length < MAX_TIMES) record.elapsedMs.push(elapsedMs);
    if (refusal === undefined) return;
    record.refusals.set(refusal, (record.refusals.get(refusal) ?? 0) + 1);
  }

  noteRefusals(gateway: object, counts: ReadonlyMap<string, number>): void {
    this.refused.set(gateway, counts);
  }

  /** Errors that the gateways have sent to clients, by code. */
  get refusals(): ReadonlyMap<string, number> {
    const sums = new Map<string, number>();
    for (const counts of this.refused.values()) {
      for (const [code, count] of counts) sums.set(code, (sums.get(code) ?? 0) + count);
    }
    return sums;
  }

  /** After each tick. */
  sample(nowMs: number): void {
    if (nowMs % this.sampleMs !== 0) return;
    for (const [account, { samples }] of this.traders) {
      samples.push(this.sampleOf(account, nowMs));
      if (samples.length > MAX_SAMPLES) this.thin();
    }
  }

  sampleOf(account: number, nowMs: number): Sample {
    const { views } = this.venue();
    const { equity } = views.money(account);
    let exposure = 0;
    if (views.hasPosition(account)) {
      for (const { size, markPrice } of views.positions(account)) exposure += size * markPrice;
    }
    return [nowMs, equity, exposure];
  }

  /** A copy that later samples do not change. */
  state(): RunState {
    return {
      sampleMs: this.sampleMs,
      traders: copied(this.traders),
    };
  }

  restore({ sampleMs, traders }: RunState): void {
    this.sampleMs = sampleMs;
    this.traders.clear();
    for (const [account, record] of copied(traders)) this.traders.set(account, record);
  }

  private add(session: number, address: string): void {
    const account = this.venue().views.session(session)?.account;
    if (account === undefined || this.traders.has(account)) return;
    this.traders.set(account, { address, samples: [], marks: new Map(), arrivals: new Map() });
  }

  private arrive(session: number, market: number, seq: number): void {
    const account = this.venue().views.session(session)?.account;
    const trader = account === undefined ? undefined : this.traders.get(account);
    const middle = this.middles.get(market);
    if (middle !== undefined) trader?.arrivals.set(seq, middle);
  }

  private thin(): void {
    this.sampleMs *= 2;
    for (const { samples } of this.traders.values()) {
      const kept = samples.filter(([timeMs]) => timeMs % this.sampleMs === 0);
      samples.splice(0, samples.length, ...kept);
    }
  }
}

export interface RunState {
  readonly sampleMs: number;
  readonly traders: ReadonlyMap<number, TraderRecord>;
}

function copied(traders: ReadonlyMap<number, TraderRecord>): Map<number, TraderRecord> {
  const entries = [...traders].map(([account, { address, samples, marks, arrivals }]) => {
    const copy = { samples: [...samples], marks: new Map(marks), arrivals: new Map(arrivals) };
    return [account, { address, ...copy }] as const;
  });
  return new Map(entries);
}
