/** `perpgate backup --follow` next to a live venue, and `perpgate restore` from what it made. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { until } from "@perpgate/journal/testing";
import { verify } from "@perpgate/venue";
import { TestVenue } from "@perpgate/venue/testing";
import { expect, test } from "vitest";
import { commandHere } from "../testing/command-here.js";
import { PerpgateProcess, temporaryFolder } from "../testing/perpgate-process.js";

const WAIT = { withinMs: 60_000, everyMs: 100 };

test("a live venue followed, stopped and followed again: restored to its end and to a position", async () => {
  const [data, copy] = [join(temporaryFolder(), "data"), join(temporaryFolder(), "copy")];
  const driver = await TestVenue.open(data);
  await driver.index();
  const session = await driver.signIn(1);
  const follow = () => new PerpgateProcess(["backup", "--data", data, "--follow", copy]);
  const held = async () => (existsSync(join(copy, "journal")) ? (await verify(copy)).commands : 0);

  const first = follow();
  await until(() => existsSync(join(copy, "journal", "0000000001.log")), WAIT);
  for (let nonce = 1; nonce <= 20; nonce++) await driver.order(session, nonce, "long", 640_000);
  const middle = driver.venue.seq;
  await until(async () => (await held()) === middle, WAIT);
  first.signal("SIGTERM");
  expect(await first.ended).toMatchObject({ code: 0, stderr: "" });

  await driver.order(session, 21, "long", 640_000);
  const second = follow();
  await until(async () => (await held()) === driver.venue.seq, WAIT);
  second.signal("SIGTERM");
  const { code, stdout } = await second.ended;
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^followed \d+ bytes to .*, up to record \d+\n$/),
  ]);
  const end = driver.venue.seq;
  await driver.venue.close();

  for (const [position, to] of [
    [middle, ["--to", String(middle)]],
    [end, []],
  ] as const) {
    const target = join(temporaryFolder(), "restored");
    const restored = await commandHere([
      "restore",
      "--from",
      copy,
      "--data",
      target,
      ...to,
      "--json",
    ]);
    expect(restored).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(restored.stdout)).toMatchObject({
      position,
      fault: null,
      commands: position,
    });
    const venue = await TestVenue.open(target);
    expect(venue.venue.views.orders(1)).toHaveLength(position === middle ? 20 : 21);
    await venue.venue.close();
  }
});
