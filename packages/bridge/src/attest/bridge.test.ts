/** The running bridge with real timers against a Tron node. */

import { EventEmitter, once } from "node:events";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import {
  Bridge,
  type BridgeEvent,
  BridgeThread,
  type ChainBridgeConfig,
  type DepositPort,
  privateKeyFromSeed,
  resolveBridge,
  termsOf,
  tronAddressOf,
} from "../index.js";
import { Attestors, SEEDS } from "../testing/attestors.js";
import { VENUE_ID } from "../testing/engine-venue.js";
import { TronNode } from "../testing/tron-node.js";

const CONTRACT = "a614f803b6fd780986a42c78ec9c7f77e6ded13c";
const VAULT = "41".repeat(20);
const ALICE = "ab".repeat(20);

let node: TronNode;

beforeEach(async () => {
  node = await TronNode.start(1_750_000_000);
});

afterEach(() => node.stop());

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

const KINDS: readonly (readonly [string, Make])[] = [
  [
    "on the calling thread",
    (config, port, clock, observe) => new Bridge(config, port, { clock, observe }),
  ],
  [
    "on a separate thread",
    (config, port, clock, observe) => {
      const onEnded = (error: Error) => expect.unreachable(error.message);
      return new BridgeThread({ config, venueId: VENUE_ID, port, clock, observe, onEnded });
    },
  ],
];

const address = (hex: string) => tronAddressOf(Buffer.from(hex, "hex"));

function configOf(rpc: readonly string[]): ChainBridgeConfig {
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

test.each(KINDS)(
  "attestors %s: poll until a deposit is credited, report a failed poll, stop",
  async (_, make) => {
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
  },
);

test("many endpoints: no warning about leaked listeners", async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error) => void warnings.push(name);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  const attestors = new Attestors(1_750_000_000_000);
  const session = attestors.venue.signIn(`0x${ALICE}`);
  attestors.venue.register(session, "tron", "ef".repeat(32), "USDT");
  const happened = new EventEmitter();
  const urls = Array.from({ length: 15 }, (_, i) => `${node.url}?${i}`);
  const config = configOf(urls);
  attestors.venue.chains.set("tron", termsOf(config.chains[0]!));
  const bridge = new Bridge(config, attestors.venue, {
    clock: () => attestors.nowMs,
    observe: ({ kind }) => void happened.emit(kind),
  });
  const polled = once(happened, "Polled");
  bridge.start();
  await polled;
  await bridge.stop();
  expect(warnings).not.toContain("MaxListenersExceededWarning");
});
