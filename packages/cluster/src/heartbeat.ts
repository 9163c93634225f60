/**
 * What cores say of themselves four times a second, on a plain subject that no stream keeps: who is behind,
 * who has another log, whose clock is wrong, and to whom the leader hands over.
 */

import { numberOf, parse, stringOf } from "./jetstream-api.js";

/** What the rules of taking over need. */
export interface CoreSays {
  /** The core's name, and the run of its process. */
  readonly core: string;
  readonly run: string;
  readonly epoch: number;
  readonly leads: boolean;
  /** The last message that it has applied, and the chain up to it. */
  readonly sequence: number;
  readonly chain: Uint8Array;
  /** Unix milliseconds. */
  readonly clockMs: number;
  /** Versions of the rules that it can read. */
  readonly versions: readonly [number, number];
  /** Whether it would claim now if the leader handed over to it. */
  readonly isReady: boolean;
  /** How many edges have a link to it. */
  readonly edges: number;
  /** Of a leader that writes nothing more, for this core to claim; empty otherwise. */
  readonly handsTo: string;
}

export interface Heartbeat extends CoreSays {
  /** For operators: the server that it is connected to, and its release; empty if it does not say. */
  readonly server: string;
  readonly release: string;
}

const MOST_TEXT = 256;

const CHAIN = /^[0-9a-f]{64}$/;
const RUN = /^[0-9a-f]{32}$/;
const NAME = /^[a-z0-9-]{1,64}$/;

export function encodeHeartbeat({ chain, ...rest }: Heartbeat): string {
  return JSON.stringify({ ...rest, chain: Buffer.from(chain).toString("hex") });
}

/** Undefined for what no core says. */
export function decodeHeartbeat(data: Uint8Array): Heartbeat | undefined {
  const fields = parse(data);
  const [core, run] = [stringOf(fields, "core"), stringOf(fields, "run")];
  const [chain, handsTo] = [stringOf(fields, "chain"), stringOf(fields, "handsTo")];
  const [epoch, sequence] = [numberOf(fields, "epoch"), numberOf(fields, "sequence")];
  const [clockMs, edges] = [numberOf(fields, "clockMs"), numberOf(fields, "edges")];
  const { versions } = fields;
  const isNamed = NAME.test(core) && RUN.test(run) && CHAIN.test(chain);
  const isCounted = [epoch, sequence, clockMs, edges].every(
    (n) => Number.isSafeInteger(n) && n >= 0,
  );
  const [oldest, newest] = Array.isArray(versions) ? versions.map(Number) : [];
  if (!isNamed || !isCounted || oldest === undefined || newest === undefined) return undefined;
  return {
    core,
    run,
    epoch,
    leads: fields.leads === true,
    sequence,
    chain: Buffer.from(chain, "hex"),
    clockMs,
    versions: [oldest, newest],
    isReady: fields.isReady === true,
    edges,
    handsTo,
    server: stringOf(fields, "server").slice(0, MOST_TEXT),
    release: stringOf(fields, "release").slice(0, MOST_TEXT),
  };
}
