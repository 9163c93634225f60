/** What attestors do for one deposit, wherever they run: against a Tron node and a port of the venue. */

import { EventEmitter, once } from "node:events";
import { expect } from "vitest";
import {
  type BridgeEvent,
  type ChainBridgeConfig,
  type DepositPort,
  privateKeyFromSeed,
  resolveBridge,
  termsOf,
  tronAddressOf,
} from "../index.js";
import { Attestors, SEEDS } from "./attestors.js";
import type { TronNode } from "./tron-node.js";

export const CONTRACT = "a614f803b6fd780986a42c78ec9c7f77e6ded13c";
export const VAULT = "41".repeat(20);
export const ALICE = "ab".repeat(20);

interface Running {
  start(): void;
  stop(): Promise<void>;
}
type Make = (
  config: ChainBridgeConfig,
  port: DepositPort,
  clock: () => number,
  observe: (event: BridgeEvent) => void,
) => Running;

const address = (hex: string) => tronAddressOf(Buffer.from(hex, "hex"));

export function configOf(rpc: readonly string[]): ChainBridgeConfig {
  const config = resolveBridge(
    {
      keyFiles: ["key"],
      chains: {
        tron: {
          rpc,
          vault: address(VAULT),
          tokens: { USDT: { contract: address(CONTRACT) } },
          confirmations: 2,
          minDeposit: 0,
          pollIntervalMs: 1,
        },
      },
    },
    { readKey: () => SEEDS[0]! },
  );
  if (config.kind !== "chain") throw new Error("no chain");
  return config;
}

/** Polls until a deposit is credited, reports a failed poll, stops. */
export async function expectCredit(node: TronNode, make: Make): Promise<void> {
  const attestors = new Attestors(1_750_000_000_000);
  const { venue } = attestors;
  const config = configOf([node.url]);
  expect(privateKeyFromSeed(SEEDS[0]!).equals(config.attestors[0]!.privateKey)).toBe(true);
  venue.chains.set("tron", termsOf(config.chains[0]!));
  const happened = new EventEmitter();
  let isBroken = true;
  const port = attestors.portWith({
    pending: (...args: Parameters<typeof venue.pending>) => {
      if (isBroken) throw new Error("the venue is stopping");
      return venue.pending(...args);
    },
  });
  const observe = ({ kind }: BridgeEvent) => void happened.emit(kind);
  const bridge = make(config, port, () => attestors.nowMs, observe);
  const failed = once(happened, "PollFailed");
  bridge.start();
  bridge.start();
  await failed;
  isBroken = false;
  const log = { contract: CONTRACT, from: ALICE, to: VAULT, units: 3n };
  const session = venue.signIn(`0x${ALICE}`);
  const id = venue.register(session, "tron", node.transact([log]), "USDT");
  while (venue.deposit(id).status === "queued") await once(happened, "Polled");
  expect(venue.deposit(id)).toMatchObject({ status: "confirming", confirmations: 1 });
  node.mine();
  while (venue.deposit(id).status !== "credited") await once(happened, "Polled");
  expect(venue.wallet(`0x${ALICE}`)).toBe(3);
  await bridge.stop();
  const asked = node.asked.length;
  await bridge.stop();
  expect(node.asked.length).toBe(asked);
}
