/**
 * What every signed command has in common: session, nonce, key; and its place in a batch, if it is an
 * operation of one (docs/engine.md, "Batch").
 */
import type { BatchPlace } from "../commands.js";
import { OPERATIONS_PER_BATCH } from "../config.js";
import { emit } from "../events/event-log.js";
import { REFUSAL } from "../reasons.js";
import { liveSession, refuse } from "../refuse.js";
import type { SessionRow } from "../state/sessions.js";
import type { VenueState } from "../state/venue.js";

interface Signed {
  readonly session: number;
  readonly key: string;
  readonly nonce: number;
  readonly batch?: BatchPlace | undefined;
}

/** The session of a command that is new and has the session's key; otherwise says why not. */
export function signingSession(s: VenueState, command: Signed): SessionRow | undefined {
  const session = liveSession(s, command.session);
  if (session === undefined) return undefined;
  const { nonce, batch } = command;
  if (batch !== undefined && !joinBatch(s, command, batch)) return undefined;
  const original = session.nonces.orderOf(nonce);
  if (original !== 0 && original !== beginningOf(s, batch)) {
    emit.OrderReplayed(s.events, { session: session.number, nonce, orderId: original });
    return undefined;
  }
  if (session.nonces.isTooOld(nonce)) {
    refuse(s, REFUSAL.nonce_too_old, session.nonces.lowest());
    return undefined;
  }
  if (command.key !== session.key) {
    refuse(s, REFUSAL.session_key_rotated);
    return undefined;
  }
  return session;
}

/** The nonce counts as used from here on; that of a batch from its first accepted operation on. */
export function consumeNonce(
  s: VenueState,
  session: SessionRow,
  nonce: number,
  batch: BatchPlace | undefined,
): void {
  if (batch === undefined) {
    session.nonces.remember(nonce, s.seq);
    return;
  }
  // Written again: a fill-or-kill order that was undone has undone the place of its operation, too.
  const left = s.scratch.work.left / s.rules.unitsPerBatchWork;
  s.batch.record(beginningOf(s, batch), s.seq, session.number, batch, left);
  if (session.nonces.orderOf(nonce) === 0) session.nonces.remember(nonce, beginningOf(s, batch));
}

/** Seq of the first operation of the batch; 0 without one. */
function beginningOf({ seq }: VenueState, batch: BatchPlace | undefined): number {
  return batch === undefined ? 0 : seq - batch.index;
}

/** After an operation of a batch that was refused: what is left for the next one. */
export function noteBatchWork({ batch, seq, rules, scratch }: VenueState): void {
  if (batch.last === seq) batch.setWorkLeft(scratch.work.left / rules.unitsPerBatchWork);
}

/** Begins or continues a batch; refuses an operation whose batch was not just before it. */
function joinBatch(s: VenueState, { session, key, nonce }: Signed, place: BatchPlace): boolean {
  const { batch, seq, rules, scratch } = s;
  const { index, count } = place;
  const isPlace =
    Number.isSafeInteger(index) &&
    Number.isSafeInteger(count) &&
    index >= 0 &&
    index < count &&
    count <= OPERATIONS_PER_BATCH &&
    place.key === key &&
    place.nonce === nonce &&
    Number.isSafeInteger(nonce) &&
    nonce >= 0;
  if (!isPlace) return refuse(s, REFUSAL.invalid_command);
  if (index === 0) {
    batch.record(seq, seq, session, place, rules.unitsPerCommand / rules.unitsPerBatchWork);
  } else {
    const continues =
      batch.last === seq - 1 &&
      batch.first === seq - index &&
      batch.session === session &&
      batch.nonce === nonce &&
      batch.count === count;
    if (!continues) return refuse(s, REFUSAL.invalid_command);
    batch.record(batch.first, seq, session, place, batch.workLeft);
  }
  const units = batch.workLeft * rules.unitsPerBatchWork;
  scratch.work.begin(units, units, index === 0 ? rules.unitsForOver : 0);
  return true;
}
