/**
 * Whether the gateway's memory grows with the orders it has taken: what is in use after a garbage
 * collection, sampled along many orders, after a warm-up that fills every buffer and ring once.
 */
import { progress, type Report } from "../report.js";
import { type Gateway, withGateway } from "./gateway.js";
import type { MemoryInUse } from "./heap-probe.js";
import { OrderPath } from "./order-path.js";
import { firstMessage } from "./processes.js";

const SAMPLES = 10;

export async function measureMemory(report: Report, orders: number): Promise<void> {
  const probe = new URL("./heap-probe.js", import.meta.url).href;
  await withGateway(
    async (gateway) => {
      const path = await OrderPath.signedIn(gateway.origin);
      const perSample = Math.ceil(orders / SAMPLES);
      await path.saturate(2 * perSample);
      const samples = [await inUse(gateway)];
      for (let i = 1; i <= SAMPLES; i++) {
        await path.saturate(perSample);
        samples.push(await inUse(gateway));
        progress(`memory, ${i * perSample} of ${orders} orders …`);
      }
      const name = `growth over ${orders.toLocaleString("en-US")} orders`;
      const heap = samples.map(({ heapBytes }) => heapBytes);
      addGrowth(report, `heap, ${name}`, heap, perSample);
      const anonymous = samples.flatMap(({ anonymousBytes }) => anonymousBytes ?? []);
      if (anonymous.length < samples.length) return;
      addGrowth(report, `process without mapped files, ${name}`, anonymous, perSample);
    },
    ["--expose-gc", "--import", probe],
  );
}

function addGrowth(
  report: Report,
  name: string,
  bytes: readonly number[],
  perSample: number,
): void {
  const first = bytes[0] ?? 0;
  const last = bytes.at(-1) ?? 0;
  const megabytes = (value: number): string => `${(value / 1e6).toFixed(1)} MB`;
  const beside = `${megabytes(first)} → ${megabytes(last)}`;
  const perThousand = slope(bytes) / (perSample / 1_000);
  report.add(name, perThousand / 1_000, "KB per 1,000 orders", beside, last / first);
}

/** Of the straight line through the samples, per sample: one odd sample does not decide. */
function slope(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const middle = (values.length - 1) / 2;
  let above = 0;
  let below = 0;
  for (const [i, value] of values.entries()) {
    above += (i - middle) * (value - mean);
    below += (i - middle) ** 2;
  }
  return above / below;
}

async function inUse({ child }: Gateway): Promise<MemoryInUse> {
  const answered = firstMessage(child);
  child.send("memory");
  const memory = await answered;
  if (!isMemory(memory)) throw new Error(`the gateway said ${JSON.stringify(memory)}`);
  return memory;
}

function isMemory(value: unknown): value is MemoryInUse {
  return typeof value === "object" && value !== null && "heapBytes" in value;
}
