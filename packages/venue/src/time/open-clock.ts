/** Opens the clock of a recovered venue: decides the start time, and logs jumps. */
import type { VenueState } from "@perpgate/engine/reading";
import { isMirror, SILENT, type VenueOptions } from "../venue-options.js";
import { type BootClock, readClockRecord } from "./boot-clock.js";
import { startTime } from "./start-time.js";
import { type ClockJump, VenueClock } from "./venue-clock.js";

const LOG_EVERY_MS = 1_000;

/** @throws {ClockRefused} before anything is appended to the log. */
export function openClock(
  options: VenueOptions,
  recordPath: string,
  boot: BootClock,
  state: VenueState,
): VenueClock {
  const { logger = SILENT } = options;
  const { timeMs, config } = state;
  const isShared = isMirror(options);
  const { clock: wall = Date.now, monotonic = () => performance.now() } = options;
  const logMs = config === null ? undefined : timeMs;
  const startMs = startTime({
    wallMs: wall(),
    logMs,
    record: readClockRecord(recordPath),
    boot: boot(),
    isAccepted: options.acceptClock === true,
  });
  if (logMs !== undefined) {
    const stoppedMs = startMs - logMs;
    logger.info({ logMs, startMs, stoppedMs }, "the venue's time goes on");
  }
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  const clocks = { wall, monotonic, boot, ...(isShared ? { logMs: () => state.lastTickMs } : {}) };
  return new VenueClock(clocks, startMs, (jump) => {
    // Rate limited: a clock that jumps back and forth would fill the log. `jumps` counts them all.
    if (monotonic() - loggedAtMs < LOG_EVERY_MS) return;
    loggedAtMs = monotonic();
    if (jump.kind === "followed") logger.warn({ ...jump }, messageOf(jump, isShared));
    else logger.error({ ...jump }, messageOf(jump, isShared));
  });
}

function messageOf({ kind, leadMs }: ClockJump, isShared: boolean): string {
  switch (kind) {
    case "followed":
      return `the clock jumped ahead by ${leadMs} ms; the venue's time follows`;
    case "doubted":
      return (
        `the clock jumped ahead by ${leadMs} ms and is not followed: ` +
        "put it right, or restart with --accept-clock if it is right"
      );
    case "back":
      return isShared
        ? `the clock is ${-leadMs} ms behind this gateway's time, which follows it down to the log's`
        : `the clock is ${-leadMs} ms behind the venue's time, which goes on at its own pace`;
  }
}
