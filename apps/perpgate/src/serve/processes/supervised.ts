/**
 * A process's own side of its supervisor. Signals are for the supervisor, which says when to stop: a
 * terminal, or a service's end, signals all of them.
 */

export interface Supervised<ToProcess> {
  /** Called with every message after the first. */
  receive(message: ToProcess): void;
  /** The supervisor is gone, and with it what it held: its ports and the other processes. */
  lost(): void;
  /** A signal asks this process alone to stop. */
  signaled?(): void;
}

/** `begin` gets the first message. Called before anything else is loaded: a signal may arrive immediately. */
export function runSupervised<Data, ToProcess, FromProcess extends object>(
  begin: (data: Data, send: (message: FromProcess) => void) => Supervised<ToProcess>,
): void {
  let supervised: Supervised<ToProcess> | undefined;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => supervised?.signaled?.());
  }
  process.once("disconnect", () => {
    if (supervised === undefined) process.exit(1);
    supervised.lost();
  });
  const send = (message: FromProcess): void => {
    // A failure shows as the end of the channel.
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  };
  process.once("message", (data: Data) => {
    const begun = begin(data, send);
    supervised = begun;
    process.on("message", (message: ToProcess) => begun.receive(message));
  });
}
