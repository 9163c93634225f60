/** Backup of a running venue, and a start on the copy. */

import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { until } from "@perpgate/journal/testing";
import type { CheckpointOptions } from "@perpgate/venue";
import { TestVenue } from "@perpgate/venue/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { ProcessClient } from "../testing/client.js";
import {
  configurationFile,
  PerpgateProcess,
  temporaryFolder,
} from "../testing/perpgate-process.js";

/** Snapshots every second, so that a backup meets some; quotes far from a mark that moves. */
function start(data: string): PerpgateProcess {
  const config = configurationFile({ snapshots: { everyMs: 1_000, keep: 2 } });
  return new PerpgateProcess([
    ...["--port", "0", "--data", data, "--config", config],
    ...["--no-bots", "--log-level", "error"],
  ]);
}

async function perpgate(...args: string[]) {
  return new PerpgateProcess(args).ended;
}

/** Places resting orders until `stop`, which returns the acknowledged ids. */
function keepTrading(client: ProcessClient): { stop(): Promise<string[]>; placed: string[] } {
  const placed: string[] = [];
  let isOn = true;
  const running = (async () => {
    for (let nonce = 1; isOn; nonce++) {
      const side = nonce % 2 === 0 ? "long" : "short";
      const price = side === "long" ? 63_000 : 67_000;
      const order = { symbol: "BTCUSD", side, type: "limit", margin: 1, leverage: 1, price, nonce };
      const { status, body } = await client.place(order);
      if (status === 200) placed.push(String(body.orderId));
      // Below 100 a second and 500 in all, which are the limits.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  return {
    placed,
    stop: async () => {
      isOn = false;
      await running;
      return placed;
    },
  };
}

/** A venue of this process whose log was pruned. */
async function prunedVenue(folder: string, checkpoints: CheckpointOptions) {
  const driver = await TestVenue.open(folder, { checkpoints, segmentBytes: 8_192 });
  const { venue } = driver;
  await driver.index();
  const session = await driver.signIn(1);
  const order = (nonce: number) => driver.order(session, nonce, "long", 640_000);
  for (let nonce = 1; nonce <= 300; nonce++) await order(nonce);
  await venue.history.flush();
  await until(() => venue.prune() > 0);
  return { venue, order };
}

/** The commands of the operator's guide, as words, with the folders of this test. */
function restoreSteps(data: string, backup: string): readonly string[][] {
  const guide = readFileSync(new URL("../../../../docs/operating.md", import.meta.url), "utf8");
  const [, commands = ""] = /^## Restore\n[^`]*```\n([^`]+)\n```/m.exec(guide) ?? [];
  expect(commands).toContain("perpgate verify");
  const here = commands
    .replaceAll("/var/lib/perpgate", data)
    .replaceAll(/\/backup\/[\d-]+/g, backup);
  return here.split("\n").map((line) => line.split(" "));
}

describe("perpgate backup", () => {
  test("of a running venue: the copy verifies, is restored by the guide, and has every order acknowledged before", async () => {
    const data = join(temporaryFolder(), "data");
    const backup = join(temporaryFolder(), "backup");
    const live = start(data);
    const client = new ProcessClient(await live.url());
    await client.signIn();
    const trading = keepTrading(client);
    const hasSnapshot = () =>
      readdirSync(join(data, "journal")).some((name) => name.endsWith(".snapshot"));
    await until(() => trading.placed.length >= 20 && hasSnapshot());
    const before = [...trading.placed];
    const { code, stdout, stderr } = await perpgate("backup", "--data", data, "--to", backup);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^copied \d+ bytes to .*\nverified \d+ commands/);
    expect(existsSync(join(backup, "history"))).toBe(false);
    await trading.stop();
    const [, blocks] = /verified \d+ commands, (\d+) blocks/.exec(stdout) ?? [];
    const note = () => readFileSync(join(data, "log-checkpoint"), "utf8");
    await until(() => Number(note().split("\n")[1]) > Number(blocks));
    live.signal("SIGTERM");
    expect((await live.ended).code).toBe(0);

    // The copy, with the checkpoint that was signed later: a log that has lost its end.
    writeFileSync(join(backup, "log-checkpoint"), note());
    const second = await perpgate("backup", "--data", backup, "--to", `${backup}-2`);
    expect([second.code, second.stdout]).toEqual([
      1,
      expect.stringMatching(/log-checkpoint covers \d+ blocks; the log has \d+/),
    ]);
    rmSync(join(backup, "log-checkpoint"));

    // The key is a secret: it is kept apart from the copy, which does not start without it.
    expect(stdout).toContain("not copied: log.key");
    expect(existsSync(join(backup, "log.key"))).toBe(false);
    const keyless = await start(backup).ended;
    expect([keyless.code, keyless.stderr]).toEqual([
      1,
      expect.stringMatching(/no log\.key in .*\n$/),
    ]);

    // The old key has signed blocks that the copy lacks: as the guide has it, it does not go on.
    const copied = { code: 0, log: "" };
    for (const [program = "", ...words] of restoreSteps(data, backup)) {
      const run = program === "perpgate" ? await perpgate(...words) : spawnSync(program, words);
      copied.code ||= ("code" in run ? run.code : run.status) ?? 1;
      copied.log += String(run.stdout) + String(run.stderr);
    }
    expect(copied.code, copied.log).toBe(0);
    expect(copied.log).toContain("venue.example/log-2+");
    // Not the exception of the guide: the old key's last checkpoint covers more than the backup has.
    const fresh = readFileSync(join(data, "log.key"));
    for (const name of ["log.key", "log-checkpoint"]) {
      copyFileSync(join(`${data}.broken`, name), join(data, name));
    }
    const contradicted = await perpgate("verify", "--data", data);
    expect([contradicted.code, contradicted.stdout]).toEqual([
      1,
      expect.stringContaining("log-checkpoint covers"),
    ]);
    rmSync(join(data, "log-checkpoint"));
    writeFileSync(join(data, "log.key"), fresh);

    const restored = start(data);
    client.url = await restored.url();
    for (const orderId of [before[0], before.at(-1)]) {
      const { status, body } = await client.request("GET", `/v1/orders/${orderId}`);
      expect([status, body.status]).toEqual([200, "resting"]);
    }
    const { body } = await client.request("GET", "/v1/account");
    expect(body.balance).toBe(10_000);
    restored.signal("SIGTERM");
    expect((await restored.ended).code).toBe(0);
    const after = await perpgate("verify", "--data", data, "--signatures");
    expect([after.code, after.stdout]).toEqual([0, expect.stringContaining("verified")]);
  });

  test.each([
    ["backup", ["backup", "--data"], "--to"],
    ["cluster join", ["cluster", "join", "--from"], "--data"],
  ])("%s of a running venue's pruned log: the copy verifies and starts", async (_, words, to) => {
    const [data, copy] = [join(temporaryFolder(), "data"), join(temporaryFolder(), "copy")];
    const checkpoints = { everyCommands: 100, everyMs: 3_600_000, keep: 1 };
    const { venue, ...driver } = await prunedVenue(data, checkpoints);
    let nonce = 1_000;
    const trading = setInterval(() => void driver.order(++nonce), 5);
    onTestFinished(() => venue.close());
    onTestFinished(() => clearInterval(trading));
    const { code, stdout, stderr } = await perpgate(...words, data, to, copy);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      /^copied \d+ bytes to .*\nverified \d+ commands.*\n {2}the log was pruned/,
    );
    const restored = await TestVenue.open(copy);
    expect(restored.venue.recovery.snapshotSeq).toBeGreaterThan(0);
    await restored.venue.close();
  });

  test("without a target: one line with the usage, code 2", async () => {
    const { code, stderr } = await perpgate("backup");
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^perpgate: give --to DIR or --follow DIR; usage: perpgate backup --to DIR.*\n$/,
    );
  });
});
