/** The running bridge: real timers, a node of Tron's dialect, and an orderly end. */

import { EventEmitter, once } from "node:events";
import { Bridge, privateKeyFromSeed, resolveBridge, tronAddressOf } from "@perpgate/bridge";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Desk, SEEDS } from "./desk.js";
import { VENUE } from "./engine-venue.js";
import { TronNode } from "./tron-node.js";

const CONTRACT = "a614f803b6fd780986a42c78ec9c7f77e6ded13c";
const VAULT = "41".repeat(20);
const ALICE = "ab".repeat(20);

let node: TronNode;

beforeEach(async () => {
  node = await TronNode.start(1_750_000_000);
});

afterEach(() => node.stop());

test("start: polls until a deposit is credited; a failing poll is told; stop: asks no more", async () => {
  const desk = new Desk(1_750_000_000_000);
  const { venue } = desk;
  const address = (hex: string) => tronAddressOf(Buffer.from(hex, "hex"));
  const config = resolveBridge(
    {
      venue: VENUE,
      keyFiles: ["key"],
      chains: {
        tron: {
          rpc: [node.url],
          vault: address(VAULT),
          tokens: { USDT: { contract: address(CONTRACT) } },
          confirmations: 2,
          pollIntervalMs: 1,
        },
      },
    },
    { readKey: () => SEEDS[0]! },
  );
  if (config.kind !== "chain") throw new Error("no chain");
  expect(privateKeyFromSeed(SEEDS[0]!).equals(config.attestors[0]!.privateKey)).toBe(true);
  const happened = new EventEmitter();
  let isBroken = true;
  const port = {
    pending: (...args: Parameters<typeof venue.pending>) => {
      if (isBroken) throw new Error("the venue is stopping");
      return venue.pending(...args);
    },
    credited: venue.credited.bind(venue),
    submit: venue.submit.bind(venue),
    markReorged: venue.markReorged.bind(venue),
  };
  const bridge = new Bridge(config, port, {
    clock: () => desk.nowMs,
    observe: ({ kind }) => happened.emit(kind),
  });
  const failed = once(happened, "PollFailed");
  bridge.start();
  bridge.start();
  await failed;
  isBroken = false;
  const log = { contract: CONTRACT, from: ALICE, to: VAULT, units: 3n };
  const session = venue.signIn(`0x${ALICE}`);
  const id = venue.register(session, "tron", node.transact([log]), "USDT");
  await once(happened, "Polled");
  expect(venue.deposit(id)).toMatchObject({ status: "confirming", confirmations: 1 });
  node.mine();
  while (venue.deposit(id).status !== "credited") await once(happened, "Polled");
  expect(venue.wallet(`0x${ALICE}`)).toBe(3);
  await bridge.stop();
  const asked = node.asked.length;
  await bridge.stop();
  expect(node.asked.length).toBe(asked);
});
