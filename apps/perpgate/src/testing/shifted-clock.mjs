/**
 * Loaded with `--import`: shifts the wall clock of the process by CLOCK_SHIFT_MS. The monotonic clock
 * and the boot clock stay right, as on a machine whose clock is wrong. SIGUSR2 puts it right.
 */
let shiftMs = Number(process.env.CLOCK_SHIFT_MS ?? 0);
const right = Date.now;
Date.now = () => right() + shiftMs;
process.on("SIGUSR2", () => {
  shiftMs = 0;
});
