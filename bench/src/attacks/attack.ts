/**
 * An attack prepares once (signs in, builds buffers) and then sends over a `AttackNetwork`, which counts,
 * records and bounds what it sends. The same attack runs for seconds in `npm run test:attacks`, for
 * minutes in the soak, and for a fixed number of bytes, writes or connections in a test of costs.
 */
import type { BenchAccount, GatewayAddress } from "../harness/http.js";
import type { AttackNetwork } from "./wire/network.js";

/** How the honest trader sends its orders while the attack is measured. */
export type TraderPath = "rest" | "socket";

/** The venue from the attacker's address. */
export interface Target {
  readonly address: GatewayAddress;
  /** The attacker's accounts with thousands of fills and orders, the first with many deposits. */
  readonly veterans: readonly BenchAccount[];
}

/** Sends until the network is over. */
export type Traffic = (network: AttackNetwork) => Promise<void>;
export type PrepareAttack = (target: Target) => Promise<Traffic> | Traffic;

export interface Attack {
  readonly name: string;
  /** One sentence: what a venue without this defence does. */
  readonly shows: string;
  readonly kind: string;
  readonly trader: TraderPath;
  readonly prepare: PrepareAttack;
}

/**
 * The attacks of one kind. `table` has a line for each: its name, an asterisk if the honest trader
 * uses a socket, a colon, and what it shows. `traffic` has the same names.
 */
export function attacksOf(
  kind: string,
  table: string,
  traffic: Readonly<Record<string, PrepareAttack>>,
): readonly Attack[] {
  const attacks = table
    .trim()
    .split("\n")
    .map((line): Attack => {
      const [, name = "", mark, shows = ""] = /^(\S+?)(\*?): (.*)$/.exec(line) ?? [];
      const prepare = traffic[name];
      if (prepare === undefined) throw new Error(`no traffic for the attack "${line}"`);
      return { name, shows, kind, trader: mark === "*" ? "socket" : "rest", prepare };
    });
  if (attacks.length !== Object.keys(traffic).length) throw new Error(`${kind}: not in the table`);
  return attacks;
}
