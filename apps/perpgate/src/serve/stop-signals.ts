/**
 * SIGTERM and SIGINT, taken once between them: the first of either asks the process to stop in good
 * order, and a second of either ends it at once, as a signal does by itself.
 */

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

export function onStopSignal(stop: () => void): void {
  const first = () => {
    for (const signal of SIGNALS) process.off(signal, first);
    stop();
  };
  for (const signal of SIGNALS) process.on(signal, first);
}
