/**
 * The listing: the units of each market (tick, lot, two assets). The engine trades in ticks and lots
 * and never reads it, but a price in the log means nothing without it. So the log stores it as the
 * evidence of `Genesis` and `Configure`, together with the attestors' keys if there are any. Tick and
 * lot of a listed market never change.
 */
import { type CommitReserves, EVENT, type EventLog } from "@perpgate/engine";
import { microsPerTickLot, type Step, stepOf } from "@perpgate/protocol/core";
import { eventWords, refusalIn, WITHDRAWAL_PAID } from "../event-fields.js";
import type { Evidence } from "../record/record.js";
import type { Applied } from "../replica.js";
import { hasFields, isHexOf, isInteger, isNumber, isText } from "../stored-json.js";
import { type AttestorHistory, historyAfter, venueIdOf } from "./attestor-history.js";
import { type AttestorKeys, isAttestorKeys } from "./attestor-keys.js";

export interface ListedMarket {
  readonly symbol: string;
  readonly base: string;
  readonly quote: string;
  readonly tickSize: number;
  readonly lotSize: number;
}

export interface CommittedReserves {
  /** Of the commitment. */
  readonly seq: number;
  readonly timeMs: number;
  /** After which the liabilities were counted. */
  readonly position: number;
  readonly root: string;
  readonly sumMicros: number;
  readonly leaves: number;
}

function committedReserves(
  { position, root, sumMicros, leaves }: CommitReserves,
  { seq, timeMs }: Applied,
): CommittedReserves {
  return { seq, timeMs, position, root, sumMicros, leaves };
}

export const isCommittedReserves = (field: unknown): field is CommittedReserves =>
  hasFields(field, {
    seq: isInteger,
    timeMs: isInteger,
    position: isInteger,
    root: isHexOf(64),
    sumMicros: isInteger,
    leaves: isInteger,
  });

/** A withdrawal that a quorum has seen paid. */
interface Payment {
  readonly seq: number;
  readonly micros: number;
}

export const isPayment = (field: unknown): field is Payment =>
  hasFields(field, { seq: isInteger, micros: isInteger });

/** Of a venue that makes no commitments; one that does drops them each hour. */
const KEPT_PAYMENTS = 10_000;

/** A listed market with its steps prepared. */
export interface MarketUnits extends ListedMarket {
  readonly number: number;
  readonly tick: Step;
  readonly lot: Step;
  readonly microsPerTickLot: number;
}

class ListingUnreadable extends Error {
  override readonly name = "ListingUnreadable";
}

/** JSON: an array of markets, or with attestors an object of both. */
export function encodeListing(
  listed: readonly ListedMarket[],
  attestors: AttestorKeys | null = null,
): string {
  const markets = listed.map(({ symbol, base, quote, tickSize, lotSize }) => ({
    symbol,
    base,
    quote,
    tickSize,
    lotSize,
  }));
  if (attestors === null) return JSON.stringify(markets);
  const { venue, members, chains } = attestors;
  const scopes = chains === undefined ? {} : { chains };
  return JSON.stringify({ markets, attestors: { venue, members, ...scopes } });
}

export function decodeListing(text: string): Listing {
  const value: unknown = JSON.parse(text);
  if (Array.isArray(value)) return new Listing(value.map(listedMarketOf));
  if (typeof value === "object" && value !== null && "markets" in value && "attestors" in value) {
    const { markets, attestors } = value;
    if (Array.isArray(markets) && isAttestorKeys(attestors)) {
      return new Listing(markets.map(listedMarketOf), attestors);
    }
  }
  throw new ListingUnreadable("the listing is not a list");
}

function listedMarketOf(market: unknown): ListedMarket {
  if (!isListedMarket(market)) throw new ListingUnreadable("the listing has a market in part");
  return market;
}

function isListedMarket(value: unknown): value is ListedMarket {
  return hasFields(value, {
    symbol: isText,
    base: isText,
    quote: isText,
    tickSize: isNumber,
    lotSize: isNumber,
  });
}

/** The evidence that a `Genesis` or `Configure` carries. */
export function listingEvidence(
  markets: readonly ListedMarket[],
  attestors: AttestorKeys | null = null,
): Evidence {
  const nothing = new Uint8Array(0);
  const signed = Buffer.from(encodeListing(markets, attestors), "utf8");
  return { signed, signature: nothing, publicKey: nothing };
}

/** The current listing, from the log. */
export class Listing {
  markets: readonly MarketUnits[] = [];
  /** Null under the `dev` attestor. */
  attestors: AttestorKeys | null;
  /** Null under the `dev` attestor. */
  attestorHistory: AttestorHistory | null = null;
  /** SHA-256 of the log record of Genesis, 64 lower-case hex digits; null before it. */
  venueId: string | null = null;
  /** Position of the upgrade to the version in force; 0 if the venue began under it. */
  upgradedAt = 0;
  /** The newest commitment to what the venue owes. */
  reserves: CommittedReserves | null = null;
  /** Payments after the position at which the liabilities of the newest commitment were counted. */
  payments: readonly Payment[] = [];
  private readonly bySymbol = new Map<string, MarketUnits>();

  constructor(markets: readonly ListedMarket[] = [], attestors: AttestorKeys | null = null) {
    this.attestors = attestors;
    this.adopt(markets);
  }

  /** Its form in the log and in snapshots. */
  get text(): string {
    return encodeListing(this.markets, this.attestors);
  }

  named(symbol: string): MarketUnits | undefined {
    return this.bySymbol.get(symbol);
  }

  onCommand(applied: Applied): void {
    const { command, evidence, events } = applied;
    if (command.kind === "CommitReserves") {
      if (refusalIn(events) === "") this.reserves = committedReserves(command, applied);
      this.payments = this.payments.filter(({ seq }) => seq > (this.reserves?.position ?? 0));
      return;
    }
    if (command.kind === "AttestWithdrawal" && command.verdict === "paid") this.onPaid(applied);
    if (command.kind === "Upgrade" && refusalIn(events) === "") this.upgradedAt = applied.seq;
    if (command.kind !== "Genesis" && command.kind !== "Configure") return;
    if (!wasTaken(events)) return;
    if (command.kind === "Genesis") this.venueId = venueIdOf(command, evidence);
    if (evidence.signed.length === 0) return;
    const next = decodeListing(Buffer.from(evidence.signed).toString("utf8"));
    this.attestors = next.attestors;
    this.attestorHistory = historyAfter(this.attestorHistory, applied, next.attestors);
    this.adopt(next.markets);
  }

  /** What left the vaults since the count: micro-dollars that the venue owed then, and has paid. */
  get paidSinceCount(): number {
    return this.payments.reduce((sum, { micros }) => sum + micros, 0);
  }

  private onPaid({ seq, events: { words, length } }: Applied): void {
    for (let at = 0; at < length; at += eventWords(words[at]!)) {
      if (words[at] !== EVENT.WithdrawalPaid) continue;
      const paid = { seq, micros: words[at + WITHDRAWAL_PAID.amountMicros]! };
      this.payments = [...this.payments, paid].slice(-KEPT_PAYMENTS);
    }
  }

  private adopt(markets: readonly ListedMarket[]): void {
    this.markets = markets.map((market, number) => {
      const tick = stepOf(market.tickSize);
      const lot = stepOf(market.lotSize);
      return { ...market, number, tick, lot, microsPerTickLot: microsPerTickLot(tick, lot) };
    });
    this.bySymbol.clear();
    for (const market of this.markets) this.bySymbol.set(market.symbol, market);
  }
}

/** Whether the command was executed. Other events, such as a halted market, may come first. */
function wasTaken({ words, length }: EventLog): boolean {
  for (let at = 0; at < length; at += eventWords(words[at]!)) {
    if (words[at] === EVENT.VenueStarted || words[at] === EVENT.VenueConfigured) return true;
  }
  return false;
}
