/**
 * Processes that run next to the venue's: started and stopped here, and their own side of it. A fault of
 * theirs, a full heap too, ends them alone; they end when the process that started them is gone.
 */
import { type ChildProcess, fork } from "node:child_process";
import { builtModule } from "./worker.js";

export interface ChildProgram {
  readonly child: ChildProcess;
  /** Resolves after the process has ended, with the error that ended it. Never rejects. */
  readonly exited: Promise<Error>;
}

interface ChildOptions<FromChild> {
  /** What the process begins with; it is cloned, as all messages are. */
  readonly data: object;
  readonly heapMb: number;
  readonly onMessage: (message: FromChild) => void;
}

type Report<FromChild> = { readonly message: FromChild } | { readonly failure: string };

/** `module` is relative to `importer`, as for `startWorker`. Does not keep this process alive. */
export function startChild<FromChild>(
  name: string,
  module: string,
  importer: string,
  { data, heapMb, onMessage }: ChildOptions<FromChild>,
): ChildProgram {
  const child = fork(builtModule(module, importer), {
    execArgv: [`--max-old-space-size=${heapMb}`],
    // Standard output is the banner's.
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    serialization: "advanced",
  });
  let reason: Error | undefined;
  child.on("message", (report: Report<FromChild>) => {
    if ("message" in report) onMessage(report.message);
    else reason = new Error(report.failure);
  });
  const exited = new Promise<Error>((resolve) => {
    child.once("error", (error) => {
      reason ??= error;
      // One that could not be started does not exit.
      if (child.pid === undefined) resolve(error);
    });
    // After the last message.
    child.once("close", (code, signal) => {
      const how = signal === null ? `exit code ${code}` : signal;
      resolve(reason ?? new Error(`the ${name} process ended with ${how}`));
    });
  });
  if (child.pid !== undefined) child.send(data, () => undefined);
  child.unref();
  child.channel?.unref();
  return { child, exited };
}

/** No-op once the process has ended. */
export function sendTo({ child }: ChildProgram, message: object): void {
  if (child.connected) child.send(message, () => undefined);
}

/** Sends `message`, waits until the process has ended, and kills it after `withinMs`. */
export async function stopChild(
  program: ChildProgram,
  message: object,
  withinMs: number,
): Promise<void> {
  const { child, exited } = program;
  child.ref();
  sendTo(program, message);
  const timer = setTimeout(() => child.kill("SIGKILL"), withinMs);
  await exited;
  clearTimeout(timer);
}

/**
 * In the process: `begin` gets its data and returns what receives its messages. Signals are for the
 * process that started it, which says when to stop: a terminal, or a service's end, signals both.
 */
export function runChild<Data, ToChild, FromChild>(
  begin: (data: Data, send: (message: FromChild) => void) => (message: ToChild) => void,
): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
  process.once("disconnect", () => process.exit());
  const report = (sent: Report<FromChild>, then: () => void = () => undefined): void => {
    if (process.connected) process.send?.(sent, undefined, undefined, then);
    else then();
  };
  process.on("uncaughtException", (error) => {
    report({ failure: error.message }, () => process.exit(1));
  });
  process.once("message", (data: Data) => {
    const receive = begin(data, (message) => report({ message }));
    process.on("message", (message: ToChild) => receive(message));
  });
}
