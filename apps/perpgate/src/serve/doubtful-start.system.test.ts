/** Starts that need the operator's consent: a wrong clock, a log that has lost its end. */

import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ProcessClient } from "../testing/client.js";
import {
  MAIN,
  PerpgateProcess,
  temporaryFolder,
  type WhenDone,
} from "../testing/perpgate-process.js";

const SHIFTED_CLOCK = fileURLToPath(new URL("../testing/shifted-clock.mjs", import.meta.url));
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const ORDER = { symbol: "BTCUSD", side: "long", type: "limit", margin: 10, leverage: 2 };

/** Data folders of venues that ran once and twice, with the right clock. Tests start on copies. */
const templates = { once: "", twice: "" };

beforeAll(async () => {
  templates.once = temporaryFolder(afterAll);
  await runBriefly(templates.once);
  templates.twice = copyOf(templates.once, afterAll);
  await runBriefly(templates.twice);
});

function copyOf(data: string, whenDone?: WhenDone): string {
  const copy = temporaryFolder(whenDone);
  cpSync(data, copy, { recursive: true });
  return copy;
}

async function runBriefly(data: string): Promise<void> {
  const perpgate = start(data, 0, [], afterAll);
  await perpgate.url();
  await stop(perpgate);
}

function start(
  data: string,
  shiftMs = 0,
  flags: readonly string[] = [],
  whenDone?: WhenDone,
): PerpgateProcess {
  return new PerpgateProcess(
    ["--port", "0", "--data", data, "--no-bots", "--log-level", "warn", ...flags],
    { CLOCK_SHIFT_MS: String(shiftMs) },
    [process.execPath, "--import", SHIFTED_CLOCK, MAIN],
    whenDone,
  );
}

async function stop(perpgate: PerpgateProcess): Promise<void> {
  perpgate.signal("SIGTERM");
  expect((await perpgate.ended).code).toBe(0);
}

/** Signs in with this machine's clock, which is right, and trades. */
async function expectTrading(perpgate: PerpgateProcess): Promise<void> {
  const client = new ProcessClient(await perpgate.url());
  expect((await client.signIn()).status).toBe(200);
  const { status, body } = await client.place({ ...ORDER, price: 60_000, nonce: 1 });
  expect(status, JSON.stringify(body)).toBe(200);
}

describe("a start with a wrong clock", () => {
  test("two years ahead without a reboot: not followed, not ready; trades after the clock is right", async () => {
    const data = copyOf(templates.once);
    const wrong = start(data, 2 * YEAR_MS);
    const url = await wrong.url();
    const ready = await fetch(`${url}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.text()).toContain("restart with --accept-clock");
    await wrong.printed(/the clock jumped ahead by \d+ ms and is not followed/, "stderr");
    await stop(wrong);
    const right = start(data);
    await expectTrading(right);
    await stop(right);
  });

  test("an hour ahead, then right: sign-ins work", async () => {
    const data = copyOf(templates.once);
    const wrong = start(data, HOUR_MS);
    await wrong.url();
    await stop(wrong);
    const right = start(data);
    await expectTrading(right);
    await stop(right);
  });

  test("two years ahead without clock.json: one line, exit 1; --accept-clock starts", async () => {
    const data = copyOf(templates.once);
    rmSync(join(data, "clock.json"));
    const { code, stderr } = await start(data, 2 * YEAR_MS).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^perpgate: the clock says 20\S+Z, 730\.\d days after the log's last time, 20\S+Z, .* start once with --accept-clock if it is right\n$/,
    );
    // Accepted although it is wrong: the log's time stays two years ahead, and people trade.
    const accepted = start(data, 2 * YEAR_MS, ["--accept-clock"]);
    await accepted.url();
    await stop(accepted);
    const right = start(data);
    await expectTrading(right);
    await stop(right);
  });
});

describe("a start with a log that has lost its end", () => {
  /** A folder whose log is from an earlier moment than its history. */
  function shortened(): string {
    const data = copyOf(templates.twice);
    const journal = join(data, "journal");
    rmSync(journal, { recursive: true });
    cpSync(join(templates.once, "journal"), journal, { recursive: true });
    return data;
  }

  test("one line that names both positions and the flag, exit 1; verify and backup refuse too", async () => {
    const data = shortened();
    const backup = join(temporaryFolder(), "copy");
    const [started, verified, copied] = await Promise.all([
      start(data).ended,
      new PerpgateProcess(["verify", "--data", data]).ended,
      new PerpgateProcess(["backup", "--data", data, "--to", backup]).ended,
    ]);
    expect(started.code).toBe(1);
    expect(started.stderr).toMatch(
      /^perpgate: the log in \S+ ends at position \d+ .* the history shows position \d+ .* start once with --accept-loss .*\n$/,
    );
    expect(verified.code).toBe(1);
    expect(verified.stdout).toMatch(
      /the log ends at position \d+ .*the history shows position \d+/,
    );
    expect(copied.code).toBe(1);
    expect(copied.stderr).toContain("the history shows position");
  });

  test("--accept-loss: logged, the evidence is kept, and it trades", async () => {
    const data = shortened();
    const perpgate = start(data, 0, ["--accept-loss"]);
    await expectTrading(perpgate);
    await perpgate.printed(/LOSS ACCEPTED/, "stderr");
    await stop(perpgate);
    const kept = readdirSync(data).filter((name) => name.startsWith("given-up-"));
    expect(kept).toHaveLength(1);
    expect(readdirSync(join(data, kept[0] ?? ""))).toContain("history");
    const verified = await new PerpgateProcess(["verify", "--data", data]).ended;
    expect(verified.stdout).toContain("verified");
    expect(verified.code).toBe(0);
  });
});

test.each(["PERPGATE_ACCEPT_LOSS", "PERPGATE_ACCEPT_CLOCK"])("%s: not a variable", async (name) => {
  const { code, stderr } = await new PerpgateProcess([], { [name]: "true" }).ended;
  expect(stderr).toContain(`unknown variable ${name}`);
  expect(code).toBe(1);
});
