/** The attestors' process: polls, parses receipts and signs votes at a low priority, off the order path. */

import { createPrivateKey } from "node:crypto";
import { runChild } from "@perpgate/journal/child";
import { lowerPriority } from "@perpgate/journal/worker";
import { Bridge } from "../attest/bridge.js";
import { publicKeyFromHex } from "../attestor-key.js";
import { dialectOf } from "../config/chain-config.js";
import type { AttestorData, FromAttestors, ToAttestors } from "./messages.js";
import { ProcessPort } from "./process-port.js";

const NICENESS = 10;

runChild<AttestorData, ToAttestors, FromAttestors>((data, send) => {
  lowerPriority(NICENESS);
  const members = data.members.map(publicKeyFromHex);
  const attestors = data.attestors.map(({ index, privateKey }) => ({
    index,
    privateKey: createPrivateKey({ key: privateKey, format: "jwk" }),
  }));
  const chains = data.chains.map((chain) => ({ ...chain, dialect: dialectOf(chain.chain) }));
  const port = new ProcessPort(send, { ...data, members });
  const bridge = new Bridge({ ...data, members, attestors, chains }, port, {
    clock: () => port.nowMs(),
    observe: (event) => send({ kind: "event", event }),
  });
  bridge.start();
  return (message) => {
    if (message.kind !== "stop") port.onMessage(message);
    else void bridge.stop().finally(() => process.disconnect());
  };
});
