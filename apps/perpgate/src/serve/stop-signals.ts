/**
 * SIGTERM and SIGINT: the first of either starts an orderly stop; a later one has its default effect and
 * ends the process immediately.
 *
 * Signals within `SAME_MS` of the first are the same one: a terminal sends SIGINT to all processes in
 * front, and npm among them passes it on.
 */

const SIGNALS = ["SIGTERM", "SIGINT"] as const;
const SAME_MS = 500;

export function onStopSignal(stop: () => void): void {
  let hasBegun = false;
  const onSignal = () => {
    if (hasBegun) return;
    hasBegun = true;
    setTimeout(() => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    }, SAME_MS).unref();
    stop();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
}
