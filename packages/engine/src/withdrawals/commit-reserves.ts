/**
 * CommitReserves: seals what another thread has counted (docs/withdrawals.md, "Reserves"). Every core compares it
 * with its own count; the engine only bounds it, because a count over all accounts has no place in a command.
 */
import { rootWords } from "@perpgate/protocol/reserves-leaf";
import type { CommitReserves } from "../commands.js";
import { emit } from "../events/event-log.js";
import { REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import type { VenueState } from "../state/venue.js";

/** CountReserves: the replica that counts does it after this command; nothing changes here. */
export function countReserves(s: VenueState): boolean {
  const isOwed = s.rules.hasWithdrawals && s.config?.attestorKind === "chain";
  return isOwed || refuse(s, REFUSAL.withdrawals_not_supported);
}

const ROOT = /^[0-9a-f]{64}$/;

export function commitReserves(s: VenueState, command: CommitReserves): boolean {
  const { position, root, sumMicros, leaves } = command;
  const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
  const isPast = isCount(position) && position > 0 && position < s.seq;
  const isWhole = ROOT.test(root) && [sumMicros, leaves].every(isCount);
  if (!s.rules.hasWithdrawals || !isPast || !isWhole) return refuse(s, REFUSAL.invalid_command);
  return true;
}

/** The last event of an accepted CommitReserves: its leaf in the tree of the block. */
export function reportReserves(
  s: VenueState,
  { position, root, sumMicros, leaves }: CommitReserves,
): void {
  emit.ReservesCommitted(s.events, {
    commitment: s.seq,
    position,
    leaves,
    sumMicros,
    ...rootWords(root),
    block: s.totals.block,
  });
  s.totals.blockAcks += 1;
}
