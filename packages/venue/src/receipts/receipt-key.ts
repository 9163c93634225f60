/**
 * The key that a process signs receipts with: new at each start, and certified by the log's key for this
 * venue. The certificate is in every receipt, and in the log with the process's join.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { VenueState } from "@perpgate/engine/reading";
import { epochOf, liveWriters } from "@perpgate/engine/reading";
import { certifiedBytes } from "@perpgate/protocol/receipts";
import type { Listing } from "../listing/listing.js";
import { ConfigRefused } from "../venue-errors.js";
import { type LogKey, signWith } from "./log-key.js";
import { type ReceiptSigner, receiptSigner } from "./receipt-signer.js";
import { verifyEd25519Now } from "./verify-ed25519.js";

/** The venue must have its Genesis. */
export function newReceiptKey(
  listing: Listing,
  logKey: LogKey,
  random: (bytes: number) => Uint8Array = randomBytes,
): ReceiptSigner {
  return receiptSigner(random(32), (publicKey) =>
    signWith(logKey.privateKey, certifiedBytes(requireVenueId(listing), publicKey)),
  );
}

export function requireVenueId({ venueId }: Listing): Buffer {
  if (venueId === null) throw new Error("the venue has no Genesis yet");
  return Buffer.from(venueId, "hex");
}

/** Live gateways that have a log key, by whether it is this one: their receipt keys are certified by it. */
export function gatewaysByLogKey(
  state: VenueState,
  listing: Listing,
  publicKey: Uint8Array,
): { readonly own: LiveWriter[]; readonly other: LiveWriter[] } {
  const own: LiveWriter[] = [];
  const other: LiveWriter[] = [];
  for (const writer of liveWriters(state)) {
    const { receiptKey, certificate } = writer;
    if (receiptKey === "") continue;
    const certified = certifiedBytes(requireVenueId(listing), Buffer.from(receiptKey, "hex"));
    const isOwn = verifyEd25519Now(publicKey, certified, Buffer.from(certificate, "hex"));
    (isOwn ? own : other).push(writer);
  }
  return { own, other };
}

type LiveWriter = ReturnType<typeof liveWriters>[number];

/** A gateway that runs sends a batch each second, unless the stream elects a leader: up to 9 s. */
const HEARD_WITHIN_MS = 15_000;

/**
 * The gateways of one venue have one log key. The writer of the own name is the process of before, whose
 * key may have been replaced. Others that were killed are live in the log until somebody ticks, so only
 * those count that are heard now. Rejects with `ConfigRefused`.
 */
export async function refuseOtherLogKey(
  state: VenueState,
  listing: Listing,
  { publicKey }: LogKey,
  ownName: string,
  wait: (ms: number) => Promise<unknown> = (ms) => delay(ms, undefined, { ref: false }),
): Promise<void> {
  const others = () =>
    gatewaysByLogKey(state, listing, publicKey).other.filter(({ name }) => name !== ownName);
  // The counter of a core that leads is its epoch.
  const sign = (counter: number) => (epochOf(state) > 0 ? state.lastTickMs : counter);
  const before = new Map(others().map(({ number, counter }) => [number, sign(counter)]));
  if (before.size === 0) return;
  await wait(HEARD_WITHIN_MS);
  const heard = others().find(({ number, counter }) => sign(counter) !== before.get(number));
  if (heard === undefined) return;
  throw new ConfigRefused(
    "log_key_differs",
    `the gateway ${heard.name} has another log key: all gateways of a venue need the same one`,
  );
}
