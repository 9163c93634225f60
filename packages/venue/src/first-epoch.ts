/**
 * What a core writes before its claim in a log that no core has led, if the rules in force know no leader: it
 * joins the log's writers as a gateway of release 0.2 would, waits until every live writer can read the next
 * version, activates that, and leaves. A claim is not of a writer that is live
 * (docs/adr/0260-the-first-core-upgrades.md).
 *
 * Nobody is asked: the log has been silent for as long as before any claim, and gateways of 0.2 write each
 * second. One that was only stopped ends with the first message of a core that it reads.
 */
import type { Command } from "@perpgate/engine";
import { liveWriters, mayLead, type VenueState, writerOf } from "@perpgate/engine/reading";
import { OPERATOR_EXPIRY_MS } from "./cohort-commands.js";
import type { WriterIdentity } from "./sequencer.js";

interface Turn {
  /** Of the batch: the own writer's next. */
  readonly counter: number;
  readonly commands: readonly Command[];
}

interface Newcomer extends WriterIdentity {
  readonly run: string;
  readonly versions: readonly [number, number];
  readonly nowMs: number;
  /** What moves the log's time: ticks end writers that are gone. */
  readonly time: () => readonly Command[];
}

/** The next batch before the claim; "claim" if there is nothing left to do, undefined if there is nothing now. */
export function beforeClaim(state: VenueState, newcomer: Newcomer): Turn | "claim" | undefined {
  const { run, versions, nowMs, name, receiptKey, certificate, time } = newcomer;
  const own = writerOf(state, run);
  if (mayLead(state)) {
    if (own === undefined) return "claim";
    return { counter: own.counter + 1, commands: [{ kind: "WriterLeft", stampMs: nowMs }] };
  }
  if (own === undefined) {
    const terms = { name, versions, receiptKey, certificate };
    return {
      counter: 0,
      commands: [{ kind: "WriterJoined", stampMs: nowMs, writer: run, ...terms }],
    };
  }
  const version = state.rules.version + 1;
  const commands = [...time()];
  if (liveWriters(state).every((writer) => writer.versions[1] >= version)) {
    const expiresAtMs = nowMs + OPERATOR_EXPIRY_MS;
    commands.push({ kind: "Upgrade", stampMs: nowMs, expiresAtMs, version });
  }
  return commands.length === 0 ? undefined : { counter: own.counter + 1, commands };
}
