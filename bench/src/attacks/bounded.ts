/**
 * A bounded part of an attack, for tests that check what it costs instead of how long it takes: so
 * many bytes, writes or connections, after which the server is given the time to deal with all of it.
 */
import type { SignedIn } from "../orders/sign-in.js";
import type { Attack } from "./attack.js";
import { remoteTarget } from "./trial/remote-target.js";
import type { LineAddress } from "./wire/line.js";
import { Network, type NetworkLimits } from "./wire/network.js";
import type { Tally } from "./wire/tally.js";

export interface BoundedResult {
  readonly tally: Tally;
  /** Connections that the server had not closed after the client's FIN. */
  readonly leftOpen: number;
}

/** Between the last byte and the end of the last connection. */
const DRAIN_MS = 10_000;

/** `limits` must name a time too: an attack that is not read from reaches no other bound. */
export async function sendBounded(
  attack: Attack,
  address: LineAddress,
  limits: NetworkLimits & { readonly milliseconds: number },
  veterans: readonly SignedIn[] = [],
): Promise<BoundedResult> {
  const traffic = await attack.prepare(remoteTarget(address, veterans));
  const network = new Network(address, limits);
  await traffic(network);
  const leftOpen = await network.drain(DRAIN_MS);
  return { tally: network.tally, leftOpen };
}
