/**
 * Join and end of writers. With its end a writer's sockets are gone: sessions that have no other lose
 * their connection. What can fail is done before the check of the invariants, what has no undo after.
 */
import type { WriterJoined } from "../commands.js";
import { MAX_LIVE_WRITERS, TICKS_MISSED } from "../config.js";
import { emit } from "../events/event-log.js";
import { awaitIndexes } from "../money/mark.js";
import { REFUSAL, WRITER_END } from "../reasons.js";
import { refuse } from "../refuse.js";
import { carryOverLost, loseConnections } from "../sessions/disconnect.js";
import type { VenueState } from "../state/venue.js";
import type { Writer } from "../state/writers.js";

export function joinWriter(s: VenueState, command: WriterJoined): boolean {
  const { writers } = s;
  if (!(writers.isJoining && command.writer === writers.current && isWriterWellFormed(command))) {
    return refuse(s, REFUSAL.invalid_command);
  }
  const replaced = writers.named(command.name);
  const others = writers.live.length - (replaced === undefined ? 0 : 1);
  if (others >= MAX_LIVE_WRITERS) return refuse(s, REFUSAL.too_many_writers, MAX_LIVE_WRITERS);
  // Nobody was there to see the prices in between: a start of the venue.
  if (others === 0) awaitIndexes(s, s.timeMs);
  if (replaced !== undefined) loseConnections(s, [replaced]);
  return true;
}

/** The last events of a join. */
export function concludeJoin(s: VenueState, command: WriterJoined): void {
  const { writers } = s;
  const replaced = writers.named(command.name);
  if (replaced !== undefined) endWriter(s, replaced, WRITER_END.replaced);
  writers.isJoining = false;
  writers.join(s.seq, command);
  emit.WriterJoined(s.events, { writer: s.seq, writers: writers.live.length });
}

export function leaveWriter(s: VenueState): boolean {
  const { writing, epoch } = s.writers;
  if (writing === undefined) return refuse(s, REFUSAL.writer_not_live);
  if (epoch > 0) return refuse(s, REFUSAL.invalid_command);
  loseConnections(s, [writing]);
  return true;
}

/** The last event of a WriterLeft. */
export function concludeLeave(s: VenueState): void {
  endWriter(s, s.writers.writing!, WRITER_END.left);
}

/** First part of a tick: the sessions of those who lose their connection with a writer that is gone. */
export function carryOverOfGone(s: VenueState): void {
  const gone = goneByTick(s);
  if (gone.length > 0) carryOverLost(s, gone);
}

/** Last part of a tick: what it says about the writers. */
export function countTick(s: VenueState): void {
  for (const writer of goneByTick(s)) endWriter(s, writer, WRITER_END.gone);
  for (const writer of s.writers.live) {
    if (!writer.isHeard) writer.ticksMissed++;
    writer.isHeard = false;
  }
}

/** Those for whom this tick is one too many in a row without a batch. */
function goneByTick({ writers }: VenueState): Writer[] {
  return writers.live.filter(
    ({ isHeard, ticksMissed }) => !isHeard && ticksMissed + 1 >= TICKS_MISSED,
  );
}

export function endWriter(s: VenueState, writer: Writer, reason: number): void {
  s.writers.end(writer);
  emit.WriterEnded(s.events, { writer: writer.number, reason });
}

export function isWriterWellFormed(
  command: Pick<WriterJoined, "name" | "versions" | "receiptKey" | "certificate">,
): boolean {
  const [oldest, newest] = command.versions;
  return (
    /^[a-z0-9-]{1,64}$/.test(command.name) &&
    Number.isSafeInteger(oldest) &&
    Number.isSafeInteger(newest) &&
    oldest >= 0 &&
    oldest <= newest &&
    /^([0-9a-f]{64})?$/.test(command.receiptKey) &&
    /^([0-9a-f]{128})?$/.test(command.certificate)
  );
}
