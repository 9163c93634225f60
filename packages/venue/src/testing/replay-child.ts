/**
 * A start in its own process that is killed during the replay of the log. Arguments: the data folder,
 * and when it is killed: `advanced`, once more of the history is on disk, or `stuck`, at the first
 * command that the history does not have, as a damaged page would do.
 */
import { writeSync } from "node:fs";
import { openData } from "../recovery/open-data.js";
import { testOptions } from "./test-venue.js";

const [directory = "", when] = process.argv.slice(2);
const pause = new Int32Array(new SharedArrayBuffer(4));

const { recovered } = await openData(
  testOptions(directory, { commit: "inline" }),
  {
    onDurable({ position }) {
      writeSync(1, `${position}\n`);
      process.kill(process.pid, "SIGKILL");
    },
    onSnapshot: () => undefined,
    onFailure: (error) => writeSync(2, `${error.message}\n`),
  },
  [
    {
      onCommand() {
        if (when === "stuck") process.kill(process.pid, "SIGKILL");
        // A slow replay: the history's thread writes meanwhile.
        Atomics.wait(pause, 0, 0, 1);
      },
    },
  ],
);
await recovered.history.flush();
