/**
 * `verify` against someone who can write anything into the data folder. The auditor has kept the log's
 * verifier key, or a signed checkpoint, or both.
 */
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { signatureLine, successorText } from "@perpgate/protocol/receipts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readCheckpointLines } from "../checkpoint/checkpoint-file.js";
import type { TableName } from "../history/history-environment.js";
import { type LogKey, newLogKey, signWith } from "../receipts/log-key.js";
import { dataFolder } from "../recovery/data-folder.js";
import { editStore, lastRow, putRow, runSql } from "../testing/edit-store.js";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import { succeed } from "../tlog/successor-store.js";
import { verify } from "./verify.js";

const venueKey = newLogKey("venue.example/log");
const otherKey = newLogKey("venue.example/log");
const SEGMENTS = { segmentBytes: 16_384 };

let base = "";
/** The honest folder, a copy of it after its first blocks, and a copy after it was pruned. */
let [honest, early, pruned] = ["", "", ""];
let keptCheckpoint = "";
/** The folder that an attacker changes. */
let data = "";

async function openWith(folder: string, logKey: LogKey | undefined): Promise<TestVenue> {
  const promises = logKey === undefined ? {} : { promises: { logKey, checkpointMs: 60_000 } };
  const checkpoints = { everyCommands: 40, everyMs: 3_600_000, keep: 2 };
  return TestVenue.open(folder, { ...promises, ...SEGMENTS, checkpoints });
}

async function trade(
  driver: TestVenue,
  orders: number,
  price: number,
  perBlock = 10,
): Promise<void> {
  const sessions = [await driver.signIn(1), await driver.signIn(2)];
  for (let nonce = 1; nonce <= orders; nonce++) {
    // Before it is stale, after ten seconds.
    if (nonce % 20 === 1) await driver.index();
    await driver.order(sessions[nonce % 2]!, nonce, nonce % 2 === 0 ? "short" : "long", price, 1);
    if (nonce % perBlock === 0) await driver.tick();
  }
}

async function stop(driver: TestVenue): Promise<void> {
  await driver.venue.promises?.log.advance();
  await driver.venue.close();
}

beforeAll(async () => {
  base = await temporaryFolder();
  [honest, early, pruned] = [join(base, "honest"), join(base, "early"), join(base, "pruned")];
  const first = await openWith(honest, venueKey.key);
  await first.tick();
  await first.tick();
  await stop(first);
  cpSync(honest, early, { recursive: true });
  const driver = await openWith(honest, venueKey.key);
  await trade(driver, 300, 650_000);
  await driver.venue.history.flush();
  const lines = () => readCheckpointLines(join(honest, "checkpoints.jsonl")).lines.length;
  while (lines() < 6) await new Promise((resolve) => setImmediate(resolve));
  await stop(driver);
  writeFileSync(join(honest, "log.key"), venueKey.secret, { mode: 0o600 });
  cpSync(honest, pruned, { recursive: true });
  const again = await openWith(pruned, venueKey.key);
  expect(again.venue.prune()).toBeGreaterThan(0);
  await stop(again);
  keptCheckpoint = readFileSync(join(honest, "log-checkpoint"), "utf8");
});
afterAll(() => removeFolder(base));
beforeEach(() => {
  data = join(base, "data");
  rmSync(data, { recursive: true, force: true });
});

const withKey = { logKey: venueKey.key };
const reasonWith = async (options: Parameters<typeof verify>[1]) =>
  (await verify(data, options)).fault?.reason ?? null;

/** A log with other orders. */
async function rewrite(from: string, logKey: LogKey | undefined, blocks = 2): Promise<void> {
  if (existsSync(from)) cpSync(from, data, { recursive: true });
  rmSync(join(data, "log-checkpoint"), { force: true });
  const driver = await openWith(data, logKey);
  await trade(driver, blocks, 640_000, 1);
  await stop(driver);
}

function removeDerived(): void {
  for (const name of ["log-checkpoint", "checkpoints.jsonl", "history", "log.key"]) {
    rmSync(join(data, name), { recursive: true, force: true });
  }
}

test("the honest folders: everything agrees, with a key and a kept checkpoint", async () => {
  const auditor = { ...withKey, checkpoints: [keptCheckpoint] };
  for (const folder of [honest, pruned]) {
    expect((await verify(folder, auditor)).fault).toBeNull();
  }
});

interface Attack {
  readonly attack: () => Promise<void> | void;
  /** The fault that a pinned key alone shows; null if it shows none. */
  readonly key: RegExp | null;
  /** With a kept checkpoint and no key. */
  readonly checkpoint: RegExp;
}

const copyHonest = () => cpSync(honest, data, { recursive: true });

const REWRITTEN: Readonly<Record<string, Attack>> = {
  "the log is another one, derived files are gone": {
    attack: async () => {
      await rewrite("", undefined);
      removeDerived();
    },
    key: /no signed checkpoint/,
    checkpoint: /the kept checkpoint covers|the root of/,
  },
  "the log's end is another one, derived files are gone": {
    attack: async () => {
      await rewrite(early, undefined);
      removeDerived();
    },
    key: /no signed checkpoint/,
    checkpoint: /the kept checkpoint covers|the root of/,
  },
  "the log has no block": {
    attack: async () => {
      const driver = await openWith(data, undefined);
      await driver.venue.close();
      removeDerived();
    },
    key: /no signed checkpoint/,
    checkpoint: /the kept checkpoint covers \d+ blocks; the log has 0/,
  },
  "the log is another one, the last checkpoint is the honest one": {
    attack: async () => {
      await rewrite("", undefined, 40);
      removeDerived();
      copyFileSync(join(honest, "log-checkpoint"), join(data, "log-checkpoint"));
    },
    key: /log-checkpoint/,
    checkpoint: /the root of \d+ blocks is not that of/,
  },
  "another key signs another log": {
    attack: async () => {
      await rewrite("", otherKey.key);
      writeFileSync(join(data, "log.key"), otherKey.secret);
    },
    key: /log\.key is venue\.example\/log\+/,
    checkpoint: /the kept checkpoint covers|the root of/,
  },
  "another key signs another log and is not shown": {
    attack: () => rewrite("", otherKey.key),
    key: /did not certify the key of gateway/,
    checkpoint: /the kept checkpoint covers|the root of/,
  },
  "another key signs the checkpoint of the honest log": {
    attack: async () => {
      copyHonest();
      removeDerived();
      const driver = await openWith(data, otherKey.key);
      await stop(driver);
    },
    key: /did not certify|did not sign/,
    // Its blocks are the kept ones.
    checkpoint: /^$/,
  },
  "another key says that it succeeds the venue's": {
    attack: async () => {
      await rewrite("", otherKey.key);
      const text = successorText({ from: venueKey.key, to: otherKey.key });
      const line = (key: LogKey, by: LogKey) =>
        signatureLine(key, signWith(by.privateKey, Buffer.from(text)));
      const note = `${text}\n${line(venueKey.key, otherKey.key)}${line(otherKey.key, otherKey.key)}`;
      writeFileSync(dataFolder(data).logSuccessors, JSON.stringify([note]));
    },
    key: /successor note from .* is not signed by/,
    checkpoint: /the kept checkpoint covers|the root of/,
  },
  "the venue's key signs another log": {
    attack: () => rewrite("", venueKey.key),
    key: null,
    checkpoint: /the kept checkpoint covers|the root of/,
  },
  "the venue's key announces another one, which signs another log": {
    attack: async () => {
      await rewrite("", otherKey.key);
      await succeed(dataFolder(data).logSuccessors, venueKey.key, otherKey.key);
    },
    key: null,
    checkpoint: /the kept checkpoint covers|the root of/,
  },
  "the end is cut off and given up": {
    attack: async () => {
      await rewrite(early, undefined);
      removeDerived();
      copyFileSync(join(honest, "log-checkpoint"), join(data, "log-checkpoint"));
      const folder = join(data, "given-up-2026-11-15T22-26-21.123Z");
      mkdirSync(folder);
      copyFileSync(join(honest, "log-checkpoint"), join(folder, "log-checkpoint"));
    },
    key: /log-checkpoint covers|is not that of log-checkpoint/,
    checkpoint: /the kept checkpoint covers|the root of|log-checkpoint covers/,
  },
  "the folder is an older copy": {
    attack: () => cpSync(early, data, { recursive: true }),
    key: null,
    checkpoint: /the kept checkpoint covers \d+ blocks; the log has \d/,
  },
  "the last checkpoint is no note": {
    attack: () => {
      copyHonest();
      writeFileSync(join(data, "log-checkpoint"), "venue.example/log\n1\n");
    },
    key: /log-checkpoint is no signed checkpoint/,
    checkpoint: /log-checkpoint/,
  },
  "the list of successors is no list": {
    attack: () => {
      copyHonest();
      writeFileSync(dataFolder(data).logSuccessors, "{");
    },
    key: /is no list of successor notes/,
    checkpoint: /is no list of successor notes/,
  },
};

test.each(Object.entries(REWRITTEN))("verify: %s", async (_, { attack, key, checkpoint }) => {
  await attack();
  const byKey = await reasonWith(withKey);
  if (key === null) expect(byKey).toBeNull();
  else expect(byKey).toMatch(key);
  expect((await reasonWith({ checkpoints: [keptCheckpoint] })) ?? "").toMatch(checkpoint);
});

test("verify: a new key that the old one announced, pinned or old", async () => {
  cpSync(honest, data, { recursive: true });
  await succeed(dataFolder(data).logSuccessors, venueKey.key, otherKey.key);
  writeFileSync(join(data, "log.key"), otherKey.secret);
  const auditor = { checkpoints: [keptCheckpoint] };
  expect(await reasonWith({ logKey: venueKey.key, ...auditor })).toBeNull();
  expect(await reasonWith({ logKey: otherKey.key, ...auditor })).toBeNull();
  expect(await reasonWith({ logKey: newLogKey("x").key, ...auditor })).toMatch(/log\.key is/);
});

/** A row after the last one, with the same content. */
function addRow(name: TableName): void {
  editStore(data, (database) => {
    putRow(database, name, lastRow(database, name).with(0, 1_000_000));
  });
}

/** Changes a field of an acknowledgement. */
function changeAck(where: string): void {
  runSql(data, `UPDATE order_rows SET ack_block = ack_block + 1 WHERE id = ${where}`);
}

/** An acknowledgement of the block in which the replay begins, from before that. */
async function changeSplitBlock(): Promise<void> {
  const { from } = await verify(data);
  changeAck(String(from));
}

const PRUNED: Readonly<Record<string, Attack["attack"]>> = {
  "the header of a block that was pruned": () =>
    runSql(
      data,
      `UPDATE block_rows SET header = CAST(substr(header, 1, 60) || x'ff' || substr(header, 62) AS BLOB)
       WHERE number = 2`,
    ),
  "an acknowledgement that was pruned": () => changeAck("(SELECT min(id) FROM order_rows)"),
  "an acknowledgement of the block that the snapshot splits": changeSplitBlock,
  "a hash of the tree that was pruned": () =>
    runSql(data, "UPDATE tree_rows SET hash = zeroblob(32) WHERE level = 0 AND place = 1"),
  "a block after the last one": () => addRow("blocks"),
  "an acknowledgement after the last one": () =>
    runSql(
      data,
      `INSERT INTO ack_rows SELECT 1000000, id, session, nonce, ack_type, ack_status, ack_reason,
         ack_filled_lots, ack_filled_micros, ack_fee, ack_remaining, ack_position_lots,
         ack_position_cost, ack_unrealized, ack_block, ack_digest, created, NULL
       FROM order_rows ORDER BY id DESC LIMIT 1`,
    ),
  "a record before the snapshot": () => {
    const journal = join(data, "journal");
    const [name = ""] = readdirSync(journal)
      .filter((each) => each.endsWith(".log"))
      .sort();
    const bytes = readFileSync(join(journal, name));
    bytes[400]! ^= 1;
    writeFileSync(join(journal, name), bytes);
  },
  "a checkpoint of other blocks": async () => {
    await rewrite("", venueKey.key, 40);
    const note = readFileSync(join(data, "log-checkpoint"), "utf8");
    rmSync(data, { recursive: true });
    cpSync(pruned, data, { recursive: true });
    writeFileSync(join(data, "log-checkpoint"), note);
  },
  "a checkpoint that is not by the key": () => {
    appendFileSync(join(data, "log-checkpoint"), "— venue.example/log AAAA\n");
  },
};

test.each(Object.entries(PRUNED))("verify, pruned: %s", async (_, attack) => {
  cpSync(pruned, data, { recursive: true });
  expect(await reasonWith(withKey)).toBeNull();
  await attack();
  expect(await reasonWith(withKey)).not.toBeNull();
});
