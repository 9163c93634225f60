/**
 * SIGTERM and SIGINT: the first of either starts an orderly stop; the second has its default effect
 * and ends the process immediately.
 */

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

export function onStopSignal(stop: () => void): void {
  const first = () => {
    for (const signal of SIGNALS) process.off(signal, first);
    stop();
  };
  for (const signal of SIGNALS) process.on(signal, first);
}
