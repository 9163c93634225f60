/**
 * What an attack is. An attack prepares (signs in, builds buffers) once and then sends over a
 * `Network`, which counts, records and bounds what it sends. The same attack therefore runs for
 * seconds in `npm run test:attacks`, for minutes in the soak, and for a fixed number of bytes,
 * writes or connections in a test that checks costs.
 */
import type { SignedIn } from "../orders/sign-in.js";
import type { Network } from "./wire/network.js";

export const ATTACK_KINDS = [
  "json",
  "orders",
  "sign-in",
  "reads",
  "connections",
  "http",
  "socket",
  "streams",
  "deposits",
  "combined",
] as const;
export type AttackKind = (typeof ATTACK_KINDS)[number];

/** How the honest trader who is measured during the attack sends its orders. */
export type TraderPath = "rest" | "socket";

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** The venue as the attacker sees it; all requests come from the attacker's address. */
export interface Target {
  readonly origin: string;
  /** Accounts of the attacker with thousands of fills and orders, and one with many deposits. */
  readonly veterans: readonly SignedIn[];
  get(path: string, token?: string): Promise<Answer>;
  post(path: string, body: string, token?: string): Promise<Answer>;
}

/** Sends until the network is over. */
export type Traffic = (network: Network) => Promise<void>;

export interface Attack {
  readonly name: string;
  /** One plain sentence: what a venue without this defence does. */
  readonly shows: string;
  readonly kind: AttackKind;
  readonly trader: TraderPath;
  prepare(target: Target): Promise<Traffic> | Traffic;
}

/** An attack as the files of `kinds/` write it: the trader uses REST unless it says otherwise. */
export type AttackEntry = Omit<Attack, "kind" | "trader"> & { readonly trader?: TraderPath };

export function attacksOf(kind: AttackKind, entries: readonly AttackEntry[]): readonly Attack[] {
  return entries.map((entry) => ({ trader: "rest", ...entry, kind }));
}
