/**
 * The core's process: a venue and what belongs to it, started by the supervisor. It ends with the
 * supervisor: nothing would start it again, or end it.
 */

import { ProcessExit } from "../exit/process-exit.js";
import { writeStack } from "../exit/write-error.js";
import type { CoreData, FromCore, ToCore } from "./messages.js";
import { runSupervised } from "./supervised.js";

/** How often a core of a cluster looks whether it is the first one. */
const LOOK_EVERY_MS = 500;

runSupervised<CoreData, ToCore, FromCore>((data, send) => {
  const exit = ProcessExit.install();
  let stop: (withinMs: number) => void = () => exit.stopStart();
  let onEdgesEnded = (): void => undefined;
  const edgesEnded = new Promise<void>((resolve) => {
    onEdgesEnded = resolve;
  });
  let metrics = async (): Promise<string | undefined> => undefined;

  async function run(): Promise<void> {
    const { startCore } = await loaded;
    const leave = (): void => send({ kind: "leave" });
    const core = await startCore({ ...data, leave }, exit);
    metrics = core.metrics;
    stop = (withinMs) => exit.stop(() => edgesEnded.then(() => core.stop()), withinMs);
    let wasFirst = false;
    const look = (): void => {
      if (core.isFirst() === wasFirst) return;
      wasFirst = !wasFirst;
      send({ kind: "first", isFirst: wasFirst });
    };
    look();
    setInterval(look, LOOK_EVERY_MS).unref();
    send({ kind: "ready", facts: core.facts });
  }
  run().catch((error) => exit.fail(error));

  return {
    receive: (message) => {
      if (message.kind === "stop") stop(message.withinMs);
      else if (message.kind === "edgesEnded") onEdgesEnded();
      else {
        const { kind, id } = message;
        void metrics()
          .catch(writeStack)
          .then((text) => send({ kind, id, ...(typeof text === "string" ? { text } : {}) }));
      }
    },
    // As if it had been killed too: no edge is left that would need an answer.
    lost: () => void process.kill(process.pid, "SIGKILL"),
    signaled: () => send({ kind: "leave" }),
  };
});

/** Before the first message. */
const loaded = import("../core.js");
