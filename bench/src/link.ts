/**
 * The link over a Unix socket: requests and answers between two processes, compared with the same bytes
 * without frames: written once per turn, counted and thrown away.
 */
import { Child } from "./harness/child.js";
import { inFolder } from "./harness/gateway.js";
import type { LinkCore } from "./harness/link-core.js";
import { type LinkExchange, openExchange, SAMPLES, type Sample } from "./harness/link-exchange.js";
import { parseOptions } from "./harness/options.js";
import { inTurns, median, medianRatio, Report } from "./harness/report.js";

const options = parseOptions({
  command: "npm run bench -- link",
  about: "Requests and answers over the link's Unix socket, compared with the same bytes raw.",
  numbers: {
    count: ["requests of a turn", 40_000, 20_000],
    rounds: ["turns of each, of which the middle one counts", 9, 5],
  },
});
const IN_FLIGHT = [1, 16, 256];
const report = new Report("link");

interface Turn {
  readonly perSecond: number;
  /** Microseconds of processor time per request. */
  readonly core: number;
  readonly edge: number;
}

async function turnOf(
  exchange: LinkExchange,
  core: Child<LinkCore>,
  inFlight: number,
): Promise<Turn> {
  const count = inFlight === 1 ? options.number("count") / 4 : options.number("count");
  const before = await core.call("processorMicros");
  const own = process.cpuUsage();
  const started = performance.now();
  let begun = 0;
  const repeat = async (): Promise<void> => {
    while (begun++ < count) await exchange.request();
  };
  await Promise.all(Array.from({ length: inFlight }, repeat));
  const seconds = (performance.now() - started) / 1_000;
  const { user, system } = process.cpuUsage(own);
  const after = await core.call("processorMicros");
  return {
    perSecond: count / seconds,
    core: (after - before) / count,
    edge: (user + system) / count,
  };
}

async function exchanges(sample: Sample): Promise<void> {
  const core = Child.start<LinkCore>(new URL("./harness/link-core.js", import.meta.url));
  try {
    await inFolder("link", async (folder) => {
      await core.call("listen", folder, sample);
      const sides = [
        await openExchange(folder, sample, true),
        await openExchange(folder, sample, false),
      ];
      for (const inFlight of IN_FLIGHT) {
        const name = `${sample}, ${inFlight} in flight`;
        const [raw, link] = await inTurns(name, options.number("rounds"), sides, (side) =>
          turnOf(side, core, inFlight),
        );
        const row = (what: string, unit: string, of: (turn: Turn) => number): void => {
          const ratio = medianRatio(link!.map(of), raw!.map(of));
          const floor = `raw ${Number(median(raw!.map(of)).toPrecision(3))}`;
          report.add(`${name}: ${what}`, median(link!.map(of)), unit, floor, ratio);
        };
        row("requests", "/s", ({ perSecond }) => perSecond);
        row("processor time, core", "µs/request", (turn) => turn.core);
        row("processor time, edge", "µs/request", (turn) => turn.edge);
      }
      for (const side of sides) side.close();
    });
  } finally {
    await core.stop();
  }
}

for (const sample of Object.keys(SAMPLES) as Sample[]) {
  await report.step(sample, () => exchanges(sample));
}
report.print(options.has("json"));
