import { PingMessage } from "@perpgate/protocol";
import { defineSocketOperation } from "./operation.js";

/** Answered by a `pong` with the gateway's time. */
export const ping = defineSocketOperation({
  message: PingMessage,
  handle: ({ id }, { connection }, { gateway }) => {
    const time = gateway.clock();
    connection.answer({ t: "pong", d: id === undefined ? { time } : { id, time } });
    return undefined;
  },
});
