/**
 * Time jumps. Ticks move the log's time by at most a second, so after a pause the writers ask for the
 * time of their clocks, and the time that a strict majority of them reaches is taken. A jump
 * disconnects nobody.
 */
import type { AskTime } from "../commands.js";
import { ASK_TICKS, ASKS_MISSED, MAX_LEAD_MS, TICK_MS } from "../config.js";
import { emit } from "../events/event-log.js";
import { awaitIndexes } from "../money/mark.js";
import { REFUSAL, WRITER_END } from "../reasons.js";
import { refuse } from "../refuse.js";
import { loseConnections } from "../sessions/disconnect.js";
import type { VenueState } from "../state/venue.js";
import type { Writer } from "../state/writers.js";
import { endWriter } from "./life.js";

export function askTime(s: VenueState, { stampMs }: AskTime): boolean {
  const { writing } = s.writers;
  if (writing === undefined) return refuse(s, REFUSAL.writer_not_live);
  const gone = goneByAsk(s, writing);
  if (gone.length > 0) loseConnections(s, gone);
  const toMs = jumpTime(s, writing, stampMs, gone);
  if (toMs !== 0) awaitIndexes(s, toMs);
  return true;
}

/** The last events of an AskTime. */
export function concludeAsk(s: VenueState, { stampMs }: AskTime): void {
  const writing = s.writers.writing!;
  const gone = goneByAsk(s, writing);
  const toMs = jumpTime(s, writing, stampMs, gone);
  for (const writer of gone) endWriter(s, writer, WRITER_END.gone);
  for (const writer of s.writers.live) {
    if (writer !== writing) writer.asksOfOthers.set(writing.number, asksOf(writer, writing) + 1);
  }
  writing.askMs = Math.max(0, stampMs);
  writing.askTicks = 0;
  if (toMs === 0) return;
  const fromMs = s.lastTickMs;
  s.timeMs = toMs;
  s.lastTickMs = Math.floor(toMs / TICK_MS) * TICK_MS;
  for (const writer of s.writers.live) writer.clearAsk();
  emit.TimeJumped(s.events, { fromMs, toMs });
}

/** The last part of a tick: asks that are old, or that its time has reached, are over. */
export function ageAsks(s: VenueState): void {
  for (const writer of s.writers.live) {
    if (writer.askMs === 0) continue;
    writer.askTicks++;
    if (writer.askTicks > ASK_TICKS || writer.askMs <= s.lastTickMs) writer.clearAsk();
  }
}

/**
 * The greatest time that more than half of the writers that stay ask for or exceed, if it is far enough
 * ahead for a jump; otherwise 0.
 */
function jumpTime(s: VenueState, asking: Writer, stampMs: number, gone: Writer[]): number {
  const staying = s.writers.live.filter((writer) => !gone.includes(writer));
  const asks = staying.map((writer) => (writer === asking ? stampMs : writer.askMs));
  asks.sort((a, b) => b - a);
  const toMs = asks[Math.floor(asks.length / 2)]!;
  return toMs >= s.lastTickMs + MAX_LEAD_MS ? toMs : 0;
}

/** Those who sent no batch while the asking writer asked as often as this, this time included. */
function goneByAsk(s: VenueState, asking: Writer): Writer[] {
  return s.writers.live.filter(
    (writer) => writer !== asking && asksOf(writer, asking) + 1 >= ASKS_MISSED,
  );
}

function asksOf(writer: Writer, asking: Writer): number {
  return writer.asksOfOthers.get(asking.number) ?? 0;
}
