import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { observeBridge } from "./telemetry.js";

function observed() {
  const lines: object[] = [];
  const line = (fields: object) => void lines.push(fields);
  const registry = new Registry();
  const log = { info: line, warn: line, error: line };
  const observe = observeBridge(log, registry, ["ethereum", "tron"], () => 1_000);
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

test("every counter: 0 for each chain before its first event, which an alert would miss", async () => {
  const { registry, observe } = observed();
  const counters = async () => {
    const text = await registry.metrics();
    return [...text.matchAll(/^perpgate_bridge_(\w+)_total\{chain="tron"\} 0$/gm)].map(
      ([, name]) => name,
    );
  };
  const names = await counters();
  expect(names).toContain("submit_failures");
  expect(names).toHaveLength(
    (await registry.metrics()).match(/^# TYPE .* counter$/gm)?.length ?? 0,
  );
  observe(polled(0));
  expect(await counters()).toEqual(names);
});

test("an old head: 1 until this attestor reads a new one, also through polls that read none", async () => {
  const { registry, observe } = observed();
  const isOld = async (attestor: number) => {
    const labels = `{chain="ethereum",attestor="${attestor}"}`;
    const text = await registry.metrics();
    return text.match(new RegExp(`^perpgate_bridge_head_old${labels} (.*)$`, "m"))?.[1];
  };
  // Above the five minutes of the public chains, below the configured limit.
  observe({ ...polled(0), isIdle: false, headAgeMs: 400_000 });
  expect(await isOld(0)).toBe("0");
  observe({ ...polled(0), isIdle: false, headAgeMs: 700_000, isHeadOld: true });
  observe({ ...polled(0), isHeadOld: true });
  observe(polled(1));
  expect([await isOld(0), await isOld(1)]).toEqual(["1", "0"]);
  observe({ ...polled(0), headAgeMs: 12_000 });
  expect(await isOld(0)).toBe("0");
});

test("endpoints that disagree in every poll: one line, and each poll is counted", async () => {
  const { lines, registry, observe } = observed();
  const found = { deposits: 100, depositId: 7, endpoints: ["one.example 0", "two.example 1"] };
  for (let poll = 0; poll < 3; poll++) {
    observe({ kind: "EndpointsDisagreed", chain: "ethereum", attestor: 0, ...found });
    observe({ ...polled(0), isIdle: false });
  }
  expect(lines).toEqual([{ chain: "ethereum", attestor: 0, ...found }]);
  expect(await registry.metrics()).toContain(
    'perpgate_bridge_disagreements_total{chain="ethereum"} 3',
  );
});
