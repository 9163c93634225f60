import { execFile } from "node:child_process";
import { copyFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import openapiTS, { astToString } from "openapi-typescript";
import { expect, test } from "vitest";
import { newFolder, runVenue } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const SOURCE = "generated-client.mts";
const run = promisify(execFile);

/** As the example's comment says, with the compiler of this repository. */
async function generate(url: string): Promise<string> {
  const folder = newFolder();
  const document = await (await fetch(`${url}/v1/openapi.json`)).text();
  writeFileSync(join(folder, "venue.d.ts"), astToString(await openapiTS(document)));
  copyFileSync(join(ROOT, "examples", SOURCE), join(folder, SOURCE));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const options = "--strict --checkers 1 --module nodenext --types node".split(" ");
  await run(process.execPath, [compiler, ...options, SOURCE], { cwd: folder });
  return join(folder, "generated-client.mjs");
}

test("a client generated from the OpenAPI document: compiles, signs in and trades", async () => {
  const at = await runVenue({ startMs: Date.now() });
  const maker = await Trader.enter(at);
  for (const body of [maker.limit("short", 65_010), maker.limit("long", 64_990)]) {
    expect((await maker.place({ ...body, margin: 1_000 })).status).toBe(200);
  }
  const { stdout } = await run(process.execPath, [await generate(at.url), at.url]);
  expect(stdout.trim().split("\n")).toEqual([
    "bought: filled, 0.00769 BTC",
    "limit order: resting",
    "cancel: canceled",
    "closed: position 0",
    expect.stringMatching(/^The wallet cannot carry margin and fee; the largest/),
  ]);
});
