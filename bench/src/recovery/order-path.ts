/**
 * The order path of a live venue, from submit to the answer, at a steady rate that does not wait for
 * answers: what a pause costs is seen by every order that was due during it.
 */
import { LONG, SHORT } from "@perpgate/engine";
import { Random } from "@perpgate/protocol/random";
import { NO_EVIDENCE, type Venue } from "@perpgate/venue";
import { order, sessionOf } from "../engine/venue-flow.js";

export interface Sample {
  /** When the order was due, and how long after that it was answered. */
  readonly dueMs: number;
  readonly latencyMs: number;
}

const INDEX_TICKS = 650_000;
const FIRST_NONCE = 1_000_000_000;

export async function driveOrders(
  venue: Venue,
  accounts: number,
  perSecond: number,
  forMs: number,
  seed: number,
): Promise<Sample[]> {
  const random = new Random(seed);
  const samples: Sample[] = [];
  const started = performance.now();
  let sent = 0;
  let answered = 0;
  let refused = 0;
  const nonces = FIRST_NONCE + Math.floor(started);
  const send = (dueMs: number): void => {
    const isBid = random.next() < 0.5;
    const price = isBid
      ? INDEX_TICKS - 100 - random.below(900)
      : INDEX_TICKS + 100 + random.below(900);
    const session = sessionOf(1 + random.below(accounts));
    const command = order(session, nonces + sent, isBid ? LONG : SHORT, price, 2_000_000, 5);
    sent++;
    venue.submit(command, NO_EVIDENCE, (applied) => {
      answered++;
      if (applied === null || venue.views.outcome(applied).kind !== "acknowledged") refused++;
      samples.push({ dueMs, latencyMs: performance.now() - dueMs });
    });
  };
  const index = setInterval(() => {
    const stampMs = venue.nowMs();
    venue.submit(
      { kind: "UpdateIndex", stampMs, market: 0, indexTicks: INDEX_TICKS },
      NO_EVIDENCE,
      () => undefined,
    );
  }, 200);
  const between = 1_000 / perSecond;
  while (performance.now() - started < forMs) {
    // Everything that is due by now, each with its own due time.
    for (
      let due = started + sent * between;
      due <= performance.now();
      due = started + sent * between
    ) {
      send(due);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  while (answered < sent) await new Promise((resolve) => setImmediate(resolve));
  clearInterval(index);
  if (refused > sent / 100) throw new Error(`${refused} of ${sent} orders were refused`);
  return samples;
}
