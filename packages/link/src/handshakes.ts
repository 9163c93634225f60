/**
 * Which connections may begin a handshake: anybody can reach the port, and a handshake costs the core about
 * a millisecond before it knows whom it talks to. Over a bound the connection is closed unread.
 *
 * An address from which an edge has linked before, also in an earlier run of the core, has a rate of its own
 * and needs none of the places of strangers, so that these cannot keep edges from coming back.
 */

import { TokenBucket } from "@perpgate/protocol/core";
import { TokenBuckets } from "@perpgate/protocol/token-buckets";
import { clientKeyOf } from "./client-key.js";
import { type KnownAddresses, MAX_KNOWN } from "./known-addresses.js";

/** At one time. */
export const MAX_HANDSHAKES = 64;
export const MAX_HANDSHAKES_PER_ADDRESS = 16;
/** Of all addresses from which no edge has linked. */
const STRANGERS = { perSecond: 20, burst: 40 };
const STRANGER = { name: "handshakes", perSecond: 1, burst: 16 };
const KNOWN = { name: "handshakes-of-edges", perSecond: 10, burst: 64 };

export class Handshakes {
  private readonly strangers = new TokenBucket(STRANGERS);
  private readonly byStranger = new TokenBuckets<string>(STRANGER, 4 * MAX_KNOWN);
  private readonly byKnown = new TokenBuckets<string>(KNOWN, MAX_KNOWN);
  private readonly pending = new Map<string, number>();
  private all = 0;

  /** `nowMs`: monotonic. */
  constructor(
    private readonly known: Pick<KnownAddresses, "has" | "add">,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** How many have begun and are neither done nor refused. */
  get inProgress(): number {
    return this.all;
  }

  /** Begins one, whose end has to be told; returns why it must not begin. */
  begin(address: string): string | undefined {
    const key = clientKeyOf(address);
    const pending = this.pending.get(key) ?? 0;
    const isKnown = this.known.has(key);
    if (pending >= MAX_HANDSHAKES_PER_ADDRESS) return "too many handshakes of the address at once";
    if (!isKnown && this.all >= MAX_HANDSHAKES) return "too many handshakes at once";
    const nowMs = this.nowMs();
    const own = isKnown ? this.byKnown : this.byStranger;
    if (!own.take(key, nowMs).isAllowed) return "too many handshakes of the address";
    if (!isKnown && !this.strangers.take(nowMs)) return "too many handshakes";
    this.pending.set(key, pending + 1);
    this.all++;
    return undefined;
  }

  /** One that has begun is done: `isEdge`, or refused. */
  ended(address: string, isEdge: boolean): void {
    const key = clientKeyOf(address);
    const pending = this.pending.get(key) ?? 0;
    if (pending <= 1) this.pending.delete(key);
    else this.pending.set(key, pending - 1);
    this.all--;
    if (isEdge) this.known.add(key);
  }
}
