/** `perpgate cluster step-down`: another core leads, without a pause. */

import type { Venue } from "@perpgate/venue";
import { refuseOnStandby } from "./operator-command.js";

/** A leader that hands over writes nothing for 1.5 s; then it goes on if nobody has claimed. */
const WITHIN_MS = 2_000;

export interface SteppedDown {
  /** The core that leads now. */
  readonly leader: string;
  readonly epoch: number;
  /** From the request until it leads. */
  readonly tookMs: number;
}

type Steps = Pick<
  Venue,
  "handOver" | "isLeading" | "isStandby" | "isReplicated" | "observe" | "writers" | "epoch"
>;

/** `to`: the core that is to lead; empty: any that is able. Rejects if none has taken over. */
export async function stepDown(venue: Steps, to: string): Promise<SteppedDown> {
  const startedMs = performance.now();
  if (!venue.isReplicated || venue.epoch === 0)
    throw new Error("no other core may lead: log.cores is not set");
  refuseOnStandby(venue);
  const chosen = venue.handOver(to);
  if (chosen === "") {
    const who = to === "" ? "no other core" : `no core ${to}`;
    throw new Error(`${who} is heard that is ready to lead; this one leads on`);
  }
  if (!(await isOver(venue))) {
    throw new Error(`${chosen} did not take over; this core leads on`);
  }
  const tookMs = Math.round(performance.now() - startedMs);
  return { leader: venue.writers[0] ?? "", epoch: venue.epoch, tookMs };
}

/** Resolves with whether another core leads in time. */
function isOver(venue: Steps): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(late);
      unobserve();
      resolve(!venue.isLeading);
    };
    const late = setTimeout(end, WITHIN_MS);
    const unobserve = venue.observe({
      onCommand: () => {
        if (!venue.isLeading) end();
      },
    });
  });
}

export function isSteppedDown(value: unknown): value is SteppedDown {
  return (
    typeof value === "object" &&
    value !== null &&
    "leader" in value &&
    typeof value.leader === "string" &&
    "epoch" in value &&
    typeof value.epoch === "number" &&
    "tookMs" in value &&
    typeof value.tookMs === "number"
  );
}
