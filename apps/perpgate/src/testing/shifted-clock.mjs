/**
 * Loaded before the process, for tests: its wall clock is wrong by CLOCK_SHIFT_MS. The
 * monotonic clock and the boot clock stay right, as they do on a machine whose clock is set wrongly.
 */
const shiftMs = Number(process.env.CLOCK_SHIFT_MS ?? 0);
const right = Date.now;
Date.now = () => right() + shiftMs;
