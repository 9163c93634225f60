/**
 * The core that leads, and its epoch. From the first `CoreLeads` on a log has one writer: batches of any
 * other are dropped. Who was connected with the leader before, or with the writers before the first, counts
 * as connected for 25 ticks of the new epoch, and no dead-man's switch becomes due in them: until then edges
 * find the new leader, and say who is there.
 */
import type { Command, CoreLeads } from "../commands.js";
import { TICKS_MISSED } from "../config.js";
import { emit } from "../events/event-log.js";
import { awaitIndexes } from "../money/mark.js";
import { REFUSAL, WRITER_END } from "../reasons.js";
import { refuse } from "../refuse.js";
import { carryOverLost } from "../sessions/disconnect.js";
import type { VenueState } from "../state/venue.js";
import { type DropReason, FORMER_PLACE } from "../state/writers.js";
import { isWriterWellFormed } from "./life.js";

const RUN = /^[0-9a-f]{32}$/;

/** Whether the batch is a claim to lead, whatever comes of it. */
export function isClaim(s: VenueState, [first]: readonly Command[]): boolean {
  return s.rules.hasLeader && s.config !== null && first?.kind === "CoreLeads";
}

/** A claim is the first batch of its run and epoch, and has nothing else in it. */
export function claim(
  { writers }: VenueState,
  id: string,
  counter: number,
  commands: readonly Command[],
): DropReason | null {
  const [first] = commands;
  const isWhole = first?.kind === "CoreLeads" && commands.length === 1 && first.run === id;
  if (!isWhole || first.epoch !== counter || !RUN.test(id)) return "not_a_claim";
  // A batch of the core that leads, or of a writer that has joined, is no claim.
  if (counter !== writers.epoch + 1 || writers.get(id) !== undefined) return "not_leading";
  return null;
}

export function leadLog(s: VenueState, command: CoreLeads): boolean {
  const { writers } = s;
  const isExpected = writers.isJoining && command.run === writers.current;
  if (!isExpected || !isWriterWellFormed({ ...command, name: command.core })) {
    return refuse(s, REFUSAL.invalid_command);
  }
  // Nobody was there to see the prices in between.
  awaitIndexes(s, s.timeMs);
  return true;
}

/** The last events of a CoreLeads. */
export function concludeLead(s: VenueState, command: CoreLeads): void {
  const { writers } = s;
  if (writers.epoch === 0) {
    for (const { number } of writers.live) {
      emit.WriterEnded(s.events, { writer: number, reason: WRITER_END.replaced });
    }
  }
  writers.lead(s.seq, command, s.lastTickMs);
  emit.LeaderChanged(s.events, { epoch: command.epoch, leader: s.seq });
}

/** First part of a tick: with the 25th of the epoch, those who have not come back lose their connection. */
export function carryOverOfLeader(s: VenueState): void {
  if (isLastOfReturn(s)) carryOverLost(s, [{ place: FORMER_PLACE }]);
}

/** Last part of a tick. */
export function countReturn(s: VenueState): void {
  const { writers } = s;
  if (!writers.isReturning) return;
  if (isLastOfReturn(s)) s.sessions.presence.clear(FORMER_PLACE);
  writers.epochTicks++;
}

function isLastOfReturn({ writers }: VenueState): boolean {
  return writers.isReturning && writers.epochTicks === TICKS_MISSED - 1;
}
