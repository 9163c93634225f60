/**
 * Which batches of the log are applied: those of the epoch of the core that leads; before a core has led,
 * those of a live writer, each counter once and in order. All others are dropped whole, on every replica
 * alike; a dropped batch changes nothing.
 */
import { type Command, GENESIS_WRITER } from "../commands.js";
import type { VenueState } from "../state/venue.js";
import type { DropReason, Writer } from "../state/writers.js";
import { claim, isClaim } from "./leader.js";

const WRITER_ID = /^[0-9a-f]{32}$/;

/** Takes note of the batch, or says why it is dropped. */
export function acceptBatch(
  s: VenueState,
  id: string,
  counter: number,
  commands: readonly Command[],
): DropReason | null {
  const { writers } = s;
  const writer = writers.get(id);
  const reason = dropReason(s, writer, id, counter, commands);
  if (reason !== null) return reason;
  if (writer === undefined) {
    if (id !== GENESIS_WRITER && writers.epoch === 0) writers.ids.add(id);
  } else {
    writer.counter = counter;
    writer.hear();
  }
  writers.current = id;
  writers.isJoining = writer === undefined;
  writers.ticksLeft = 1;
  return null;
}

function dropReason(
  s: VenueState,
  writer: Writer | undefined,
  id: string,
  counter: number,
  commands: readonly Command[],
): DropReason | null {
  if (isClaim(s, commands)) return claim(s, id, counter, commands);
  const { epoch } = s.writers;
  if (epoch > 0) return writer !== undefined && counter === epoch ? null : "not_leading";
  return writer === undefined ? newcomer(s, id, counter, commands) : next(writer, counter);
}

function next(writer: { readonly counter: number }, counter: number): DropReason | null {
  if (counter <= writer.counter) return "counter_passed";
  return counter === writer.counter + 1 ? null : "counter_gap";
}

/** A batch of an id that is not live: Genesis or a join. */
function newcomer(
  s: VenueState,
  id: string,
  counter: number,
  commands: readonly Command[],
): DropReason | null {
  const [first] = commands;
  if (id === GENESIS_WRITER) {
    if (s.config !== null) return "already_started";
    return counter === 0 && first?.kind === "Genesis" ? null : "not_started";
  }
  if (s.config === null) return "not_started";
  if (s.writers.ids.has(id)) return "writer_ended";
  if (counter !== 0) return "writer_unknown";
  const joins = first?.kind === "WriterJoined" && commands.length === 1 && first.writer === id;
  return joins && WRITER_ID.test(id) ? null : "not_a_join";
}
