/**
 * The way of one order over REST: the project's files and functions that run between its first byte and
 * its answer, counted by V8. A venue in one process, so what its threads run is not in it. What does not
 * run for each of the orders, such as ticks and timers, is left out.
 */
import { once } from "node:events";
import { Session } from "node:inspector/promises";
import { connect, type Socket } from "node:net";
import { startVenue } from "@perpgate/sandbox";
import { parseOptions } from "./harness/options.js";
import { Report } from "./harness/report.js";
import { orderBody, orderRequest } from "./harness/wire.js";

const options = parseOptions({
  command: "npm run bench -- path",
  about: "The files and functions that one order over REST passes, by package.",
  numbers: { orders: ["orders of which the common part counts", 50, 20] },
  switches: { list: "also lists the files" },
});
const WARM_UP = 200;
/** Rests, far from the index price. */
const PRICE = 59_000;
const OURS = /packages\/(?:gateway|link|venue|engine|journal|protocol)\/dist\//;

/** Functions that ran, by file. */
type Run = ReadonlyMap<string, number>;

const report = new Report("path");
const venue = await startVenue({ seed: 7, markets: ["BTCUSD"], time: "real" });
await venue.price("BTCUSD", 60_000);
const { session, sign } = await venue.keyedTrader({ funds: 1_000_000 });
const socket = connect(Number(new URL(venue.url).port), "127.0.0.1");
await once(socket, "connect");
const inspector = new Session();
inspector.connect();
await inspector.post("Profiler.enable");

let nonce = Date.now() * 1_000;
async function prepared(): Promise<Buffer> {
  const body = orderBody(nonce++, PRICE);
  return orderRequest(session.token, body, Buffer.from(await sign(body), "hex").toString("base64"));
}

async function send(to: Socket, order: Buffer): Promise<void> {
  to.write(order);
  const [answer]: Buffer[] = await once(to, "data");
  if (answer?.includes("HTTP/1.1 200") !== true) throw new Error(String(answer));
}

async function runOf(order: Buffer): Promise<Run> {
  await inspector.post("Profiler.takePreciseCoverage");
  await send(socket, order);
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  const files = result.filter(({ url }) => OURS.test(url));
  return new Map(
    files.map(({ url, functions }) => [
      url.replace(/^.*\/packages\//, "").replace("/dist/", "/"),
      // The first is the module itself, which ran when it was loaded.
      functions.filter(({ ranges }) => ranges[0]!.startOffset > 0 && ranges[0]!.count > 0).length,
    ]),
  );
}

for (let i = 0; i < WARM_UP; i++) await send(socket, await prepared());
await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
const runs: Run[] = [];
while (runs.length < options.number("orders")) runs.push(await runOf(await prepared()));

const common = [...runs[0]!.keys()]
  .map((file) => ({ file, functions: Math.min(...runs.map((run) => run.get(file) ?? 0)) }))
  .filter(({ functions }) => functions > 0);
for (const name of new Set(common.map(({ file }) => file.split("/")[0]!))) {
  const files = common.filter(({ file }) => file.startsWith(`${name}/`));
  report.add(`${name}, files`, files.length, "files");
  report.add(`${name}, functions`, sumOf(files), "functions");
}
report.add("all, files", common.length, "files");
report.add("all, functions", sumOf(common), "functions");
report.print(options.has("json"));
if (options.has("list")) for (const { file } of common) console.log(file);
socket.destroy();
await venue.stop();

function sumOf(files: readonly { readonly functions: number }[]): number {
  return files.reduce((sum, { functions }) => sum + functions, 0);
}
