import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { observeBridge } from "./telemetry.js";

function observed() {
  const lines: object[] = [];
  const line = (fields: object) => void lines.push(fields);
  const registry = new Registry();
  const observe = observeBridge({ info: line, warn: line, error: line }, registry, () => 1_000);
  return { lines, registry, observe };
}

const polled = (attestor: number) =>
  ({
    kind: "Polled",
    chain: "ethereum",
    attestor,
    pending: 0,
    votes: 0,
    endpoints: 0,
    isIdle: true,
    headAgeMs: null,
    isHeadOld: false,
  }) as const;
const differs = (attestor: number) =>
  ({ kind: "ConfigurationDiffers", chain: "ethereum", attestor, difference: "the key" }) as const;

test("two attestors, one of which has another key than the venue: the other's polls do not hide it", async () => {
  const { lines, registry, observe } = observed();
  for (let poll = 0; poll < 3; poll++) {
    observe(differs(2));
    observe(polled(0));
  }
  expect(lines).toEqual([{ chain: "ethereum", attestor: 2, difference: "the key" }]);
  const text = await registry.metrics();
  expect(text).toContain('perpgate_bridge_configuration_differs{chain="ethereum",attestor="2"} 1');
  expect(text).toContain('perpgate_bridge_configuration_differs{chain="ethereum",attestor="0"} 0');
});
