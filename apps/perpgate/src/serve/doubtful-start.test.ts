/** Starts that must not go on in silence: a wrong clock, a log that has lost its end. Real processes. */

import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { ProcessClient } from "../testing/client.js";
import { PerpgateProcess, temporaryFolder } from "../testing/perpgate-process.js";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const SHIFTED_CLOCK = fileURLToPath(new URL("../testing/shifted-clock.mjs", import.meta.url));
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const ORDER = { symbol: "BTCUSD", side: "long", type: "limit", margin: 10, leverage: 2 };

function start(data: string, shiftMs = 0, ...flags: string[]): PerpgateProcess {
  return new PerpgateProcess(
    ["--port", "0", "--data", data, "--no-bots", "--log-level", "warn", ...flags],
    { CLOCK_SHIFT_MS: String(shiftMs) },
    [process.execPath, "--import", SHIFTED_CLOCK, MAIN],
  );
}

async function stop(perpgate: PerpgateProcess): Promise<void> {
  perpgate.signal("SIGTERM");
  expect((await perpgate.ended).code).toBe(0);
}

/** A venue that has run for a moment with the right clock. */
async function firstLife(data: string): Promise<void> {
  const perpgate = start(data);
  await perpgate.url();
  await stop(perpgate);
}

/** Signs in with this machine's clock, which is right, and trades. */
async function trades(url: string): Promise<void> {
  const client = new ProcessClient(url);
  expect((await client.signIn()).status).toBe(200);
  const { status, body } = await client.place({ ...ORDER, price: 60_000, nonce: 1 });
  expect(status, JSON.stringify(body)).toBe(200);
}

describe("a start with a wrong clock", () => {
  test("two years ahead, without a boot between: doubted, said in /readyz; nobody is locked out after", async () => {
    const data = temporaryFolder();
    await firstLife(data);
    const wrong = start(data, 2 * YEAR_MS);
    const url = await wrong.url();
    const ready = await fetch(`${url}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.text()).toContain("restart with --accept-clock");
    await wrong.printed(/the clock jumped ahead by \d+ ms and is not followed/, "stderr");
    await stop(wrong);
    const right = start(data);
    await trades(await right.url());
    await stop(right);
  });

  test("an hour ahead and put right at once: sign-ins work", async () => {
    const data = temporaryFolder();
    await firstLife(data);
    const wrong = start(data, HOUR_MS);
    await wrong.url();
    await stop(wrong);
    const right = start(data);
    await trades(await right.url());
    await stop(right);
  });

  test("two years ahead, where nothing shows the time that has passed: one line, exit 1", async () => {
    const data = temporaryFolder();
    await firstLife(data);
    rmSync(join(data, "clock.json"));
    const { code, stderr } = await start(data, 2 * YEAR_MS).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^perpgate: the clock says 20\S+Z, 730\.\d days after the log's last time, 20\S+Z, .* start once with --accept-clock if it is right\n$/,
    );
    // Accepted although it is wrong: the log's time stays ahead for two years, and people trade.
    const accepted = start(data, 2 * YEAR_MS, "--accept-clock");
    await accepted.url();
    await stop(accepted);
    const right = start(data);
    await trades(await right.url());
    await stop(right);
  });
});

describe("a start with a log that has lost its end", () => {
  /** A folder whose log is of an earlier moment than its history. */
  async function shortened(): Promise<string> {
    const data = temporaryFolder();
    await firstLife(data);
    const journal = join(data, "journal");
    const early = temporaryFolder();
    cpSync(journal, early, { recursive: true });
    await firstLife(data);
    rmSync(journal, { recursive: true });
    cpSync(early, journal, { recursive: true });
    return data;
  }

  test("one line that names both positions and the flag, exit 1; verify and backup refuse too", async () => {
    const data = await shortened();
    const { code, stderr } = await start(data).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^perpgate: the log in \S+ ends at position \d+ .* the history shows position \d+ .* start once with --accept-loss .*\n$/,
    );
    const verified = await new PerpgateProcess(["verify", "--data", data]).ended;
    expect(verified.code).toBe(1);
    expect(verified.stdout).toMatch(
      /the log ends at position \d+ .*the history shows position \d+/,
    );
    const backup = join(temporaryFolder(), "copy");
    const copied = await new PerpgateProcess(["backup", "--data", data, "--to", backup]).ended;
    expect(copied.code).toBe(1);
    expect(copied.stderr).toContain("the history shows position");
  });

  test("--accept-loss: says so, keeps what shows it, and trades", async () => {
    const data = await shortened();
    const perpgate = start(data, 0, "--accept-loss");
    await trades(await perpgate.url());
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

test("--accept-loss and --accept-clock are no variables", async () => {
  for (const name of ["PERPGATE_ACCEPT_LOSS", "PERPGATE_ACCEPT_CLOCK"]) {
    const { code, stderr } = await new PerpgateProcess([], { [name]: "true" }).ended;
    expect(stderr).toContain(`unknown variable ${name}`);
    expect(code).toBe(1);
  }
});
