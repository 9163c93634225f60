/** The running bridge with real timers against a Tron node. */

import { EventEmitter, once } from "node:events";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { Bridge, termsOf } from "../index.js";
import { Attestors } from "../testing/attestors.js";
import { ALICE, configOf, expectCredit } from "../testing/credited-deposit.js";
import { TronNode } from "../testing/tron-node.js";

let node: TronNode;

beforeEach(async () => {
  node = await TronNode.start(1_750_000_000);
});

afterEach(() => node.stop());

test("attestors: poll until a deposit is credited, report a failed poll, stop", () =>
  expectCredit(
    node,
    (config, port, clock, observe) => new Bridge(config, port, { clock, observe }),
  ));

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
