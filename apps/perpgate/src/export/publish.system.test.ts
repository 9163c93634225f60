/** Daily files of public data: those of the days that are over, made once, with the rows of an export. */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { busyVenue, type TestVenue } from "@perpgate/venue/testing";
import { expect, onTestFinished, test } from "vitest";
import { commandHere } from "../testing/command-here.js";
import { PerpgateProcess } from "../testing/perpgate-process.js";

const DAY_MS = 86_400_000;

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-publish-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function perpgate(...args: string[]) {
  return new PerpgateProcess(args).ended;
}

/** To the same time of the next day, with trades there. */
async function nextDay(driver: TestVenue, sessions: readonly [number, number], nonce: number) {
  const stampMs = driver.venue.views.timeMs + DAY_MS;
  await driver.submit({ kind: "AskTime", stampMs });
  await driver.index(651_000);
  await driver.order(sessions[0], nonce, "short", 651_000, 10);
  await driver.order(sessions[1], nonce, "long", 651_000, 10);
  await driver.submit({ kind: "Tick", slot: Math.floor(stampMs / 200) + 1 });
  await driver.venue.history.flush();
}

function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return Object.fromEntries(
    names
      .filter((name) => /\./.test(name))
      .map((name) => [
        name,
        createHash("sha256")
          .update(readFileSync(join(folder, name)))
          .digest("hex"),
      ]),
  );
}

test("publish: a folder for each day that is over, whose files never change", async () => {
  const [data, to] = [newFolder(), join(newFolder(), "public")];
  const { driver, sessions } = await busyVenue(data);
  const early = await perpgate("publish", "--data", data, "--to", to);
  expect(early).toMatchObject({ code: 0, stdout: "no day is new\n", stderr: "" });
  expect(readdirSync(to)).toEqual(["index.json"]);

  await nextDay(driver, sessions, 100);
  const first = await perpgate("publish", "--data", data, "--to", to);
  expect(first).toMatchObject({ code: 0, stdout: "published 2027-01-15\n", stderr: "" });
  const index = JSON.parse(readFileSync(join(to, "index.json"), "utf8"));
  const files = filesIn(to);
  expect(index).toEqual({
    days: [
      { day: "2027-01-15", index: "2027-01-15/index.json", sha256: files["2027-01-15/index.json"] },
    ],
  });
  const day = JSON.parse(readFileSync(join(to, "2027-01-15", "index.json"), "utf8"));
  const names = day.files.map(({ file }: { file: string }) => file).sort();
  expect(names).toEqual([
    "BTCUSD-candles-1m.csv.gz",
    "BTCUSD-funding.csv.gz",
    "BTCUSD-index-candles-1m.csv.gz",
    "BTCUSD-mark-candles-1m.csv.gz",
    "BTCUSD-trades.csv.gz",
    "ETHUSD-funding.csv.gz",
  ]);
  for (const { file, symbol, data: name, rows, bytes, sha256 } of day.files) {
    const packed = readFileSync(join(to, "2027-01-15", file));
    expect([packed.length, files[`2027-01-15/${file}`]]).toEqual([bytes, sha256]);
    const kind = /candles/.test(name) ? "candles" : name;
    const price = /^(mark|index)-/.exec(name)?.[1];
    const { stdout } = await perpgate(
      ...["export", kind, "--data", data, "--symbol", symbol],
      ...["--from", "2027-01-15", "--to", "2027-01-16"],
      ...(price === undefined ? [] : ["--price", price]),
    );
    expect(gunzipSync(packed).toString(), file).toBe(stdout);
    expect(stdout.split("\r\n").length - 2, file).toBe(rows);
  }

  // What a call that was killed has left is made again.
  mkdirSync(join(to, ".2027-01-16.part"));
  writeFileSync(join(to, ".2027-01-16.part", "rows.csv"), "half a row");
  await nextDay(driver, sessions, 200);
  const second = await perpgate("publish", "--data", data, "--to", to, "--json");
  expect(JSON.parse(second.stdout)).toEqual({ folder: to, days: ["2027-01-16"], missed: [] });
  expect(filesIn(to)).toMatchObject(
    Object.fromEntries(Object.entries(files).filter(([name]) => name !== "index.json")),
  );
  expect(readdirSync(to).sort()).toEqual(["2027-01-15", "2027-01-16", "index.json"]);
  const again = await perpgate("publish", "--data", data, "--to", to);
  expect(again.stdout).toBe("no day is new\n");
  await driver.venue.close();
});

test("a call that was killed before it wrote the index: the next one adds the day to it", async () => {
  const [data, to] = [newFolder(), join(newFolder(), "public")];
  const { driver, sessions } = await busyVenue(data);
  await commandHere(["publish", "--data", data, "--to", to]);
  const before = readFileSync(join(to, "index.json"));
  await nextDay(driver, sessions, 100);
  await commandHere(["publish", "--data", data, "--to", to]);
  const whole = readFileSync(join(to, "index.json"), "utf8");
  writeFileSync(join(to, "index.json"), before);
  const again = await commandHere(["publish", "--data", data, "--to", to]);
  expect(again).toMatchObject({ code: 0, stdout: "no day is new\n" });
  expect(readFileSync(join(to, "index.json"), "utf8")).toBe(whole);
  await driver.venue.close();
});

test("days that the history does not keep whole any more: named, exit code 1, and the rest is made", async () => {
  const [data, to] = [newFolder(), join(newFolder(), "public")];
  const retention = { hotMs: DAY_MS };
  const { driver, sessions } = await busyVenue(data, { retention, outboxCommands: 8 });
  await nextDay(driver, sessions, 100);
  await nextDay(driver, sessions, 200);
  const missed = await commandHere(["publish", "--data", data, "--to", to]);
  expect([missed.code, missed.stdout]).toEqual([1, "published 2027-01-16\n"]);
  expect(missed.stderr).toMatch(/^2027-01-15 .*history\.hotDays.*\n$/);
  // It is said once.
  const done = await commandHere(["publish", "--data", data, "--to", to, "--json"]);
  expect(done).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(done.stdout)).toEqual({ folder: to, days: [], missed: [] });
  await driver.venue.close();
});
