/** The transparency log with an unmodified witness, over restarts, and with a forked history. */
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  checkpointText,
  isNoteSignedBy,
  openCheckpoint,
  parseNoteKey,
  signatureLine,
} from "@perpgate/protocol/receipts";
import { TestCosigner } from "@perpgate/protocol/testing";
import { afterAll, describe, expect, test } from "vitest";
import { newLogKey, signWith } from "../receipts/log-key.js";
import { verifyEd25519 } from "../receipts/verify-ed25519.js";
import { Litewitness, litewitnessProgram } from "../testing/litewitness.js";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import { verify } from "../verify/verify.js";
import type { Published } from "./transparency-log.js";
import { Witness } from "./witness.js";

const program = litewitnessProgram();
const folder = await temporaryFolder();
afterAll(() => removeFolder(folder));
const { key: logKey } = newLogKey("venue.example/log");

async function grow(driver: TestVenue, blocks: number, price: number): Promise<void> {
  for (let i = 0; i < blocks; i++) {
    await driver.index(price + i);
    await driver.tick();
  }
}

describe.skipIf(program === undefined)("with litewitness", async () => {
  if (program === undefined) return;
  const witness = await Litewitness.prepare(program, folder);
  afterAll(() => witness.close());
  witness.follow("venue.example/log", logKey.text);
  await witness.start();
  const witnesses = [{ url: witness.url, key: witness.key }];
  const promises = { logKey, witnesses, checkpointMs: 60_000 };

  /** A life of the venue in that folder: some blocks, a checkpoint, the end. */
  async function live(name: string, blocks: number, price: number) {
    const driver = await TestVenue.open(join(folder, name), { promises });
    const { log } = driver.venue.promises!;
    await log.advance();
    await grow(driver, blocks, price);
    await log.advance();
    const { published, conflict } = log;
    await driver.venue.close();
    return { published, conflict };
  }

  async function expectCosigned(published: Published | undefined): Promise<void> {
    const opened = await openCheckpoint(
      published?.note ?? "",
      parseNoteKey(logKey.text)!,
      verifyEd25519,
    );
    if (typeof opened === "string") throw new Error(opened);
    expect(await isNoteSignedBy(opened.note, witness.key, verifyEd25519)).toBe(true);
    expect(published?.witnesses).toEqual(["witness.example/w1"]);
  }

  test("cosigns, over restarts of the venue and of the witness", async () => {
    const first = await live("venue", 3, 650_000);
    await expectCosigned(first.published);
    await witness.stop();
    const alone = await live("venue", 5, 650_100);
    expect(alone.published?.witnesses).toEqual([]);
    expect(alone.published?.size).toBeGreaterThan(first.published!.size);
    await witness.start();
    const last = await live("venue", 300, 650_200);
    await expectCosigned(last.published);
    expect(last.conflict).toBeNull();
    expect(last.published?.size).toBeGreaterThan(300);
  });

  test("a folder from before its last checkpoint: nothing is signed that the witness contradicts", async () => {
    cpSync(join(folder, "venue"), join(folder, "older"), { recursive: true });
    const ahead = await live("venue", 3, 650_600);
    await expectCosigned(ahead.published);
    const forked = await live("older", 9, 660_000);
    expect(forked.conflict).toMatch(/witness witness.example\/w1 has seen/);
    expect(forked.published).toBeUndefined();
  });

  test("another venue with the same log key: refused before its first checkpoint", async () => {
    const other = await live("other", 3, 640_000);
    expect(other.conflict).toMatch(/witness witness.example\/w1 has seen \d+ blocks/);
    expect(other.published).toBeUndefined();
  });

  test("a gateway that has signed less than another: it continues what the witness has seen", async () => {
    const remembered = join(folder, "venue", "log-checkpoint");
    const early = readFileSync(remembered);
    await live("venue", 2, 650_600);
    writeFileSync(remembered, early);
    const { published, conflict } = await live("venue", 1, 650_650);
    expect(conflict).toBeNull();
    await expectCosigned(published);
  });

  test("a checkpoint that contradicts the witness: refused by it", async () => {
    const { published } = await live("venue", 1, 650_700);
    const size = published!.size;
    const text = checkpointText({ origin: logKey.name, size, root: Buffer.alloc(32, 9) });
    const line = signatureLine(logKey, signWith(logKey.privateKey, Buffer.from(text)));
    const answer = await new Witness(witnesses[0]!).submit(
      { note: `${text}\n${line}`, size, blocks: size, consistencyFrom: () => [] },
      new AbortController().signal,
    );
    expect(answer).toEqual({ kind: "inconsistent" });
  });
});

describe("without a witness", () => {
  const promises = { logKey, checkpointMs: 60_000 };

  test("a folder that differs from its last checkpoint: nothing more is signed, trading goes on", async () => {
    const one = await temporaryFolder();
    const two = await temporaryFolder();
    afterAll(() => Promise.all([removeFolder(one), removeFolder(two)]));
    for (const [directory, price] of [
      [one, 650_000],
      [two, 660_000],
    ] as const) {
      const driver = await TestVenue.open(directory, { promises });
      await grow(driver, 3, price);
      await driver.venue.promises?.log.advance();
      expect(driver.venue.promises?.log.published?.size).toBe(driver.venue.promises?.tree.size);
      await driver.venue.close();
    }
    expect((await verify(two)).fault).toBeNull();
    cpSync(join(one, "log-checkpoint"), join(two, "log-checkpoint"));
    expect((await verify(two)).fault?.reason).toMatch(/not the one of the last signed checkpoint/);
    const driver = await TestVenue.open(two, { promises });
    await grow(driver, 3, 661_000);
    const { log } = driver.venue.promises!;
    await log.advance();
    expect(log.conflict).toMatch(/differ from the last signed checkpoint/);
    expect(log.published).toBeUndefined();
    await driver.venue.close();
  });

  test("a checkpoint of another gateway: taken over if it agrees, and continued", async () => {
    const directory = await temporaryFolder();
    afterAll(() => removeFolder(directory));
    const one = await TestVenue.open(directory, { promises });
    await grow(one, 3, 650_000);
    await one.venue.promises?.log.advance();
    const { note, size } = one.venue.promises!.log.published!;
    await one.venue.close();
    rmSync(join(directory, "log-checkpoint"));
    let isSigner = false;
    const two = await TestVenue.open(directory, {
      promises: { ...promises, isSigner: () => isSigner },
    });
    const { log } = two.venue.promises!;
    await log.advance();
    expect(log.published).toBeUndefined();
    await log.adopt(note);
    expect(log.published).toMatchObject({ note, size });
    expect(readFileSync(join(directory, "log-checkpoint"), "utf8")).toBe(note);
    isSigner = true;
    await grow(two, 1, 651_000);
    await log.advance();
    expect(log.published?.size).toBeGreaterThan(size);
    const text = checkpointText({ origin: logKey.name, size, root: Buffer.alloc(32, 9) });
    const signedBy = (key: typeof logKey) =>
      `${text}\n${signatureLine(key, signWith(key.privateKey, Buffer.from(text)))}`;
    await log.adopt(signedBy(newLogKey(logKey.name).key));
    expect(log.conflict).toBeNull();
    await log.adopt(signedBy(logKey));
    expect(log.conflict).toMatch(/another gateway has signed \d+ other blocks/);
    await two.venue.close();
  });

  test("a checkpoint of another gateway with a forged cosignature: not taken over", async () => {
    const directory = await temporaryFolder();
    afterAll(() => removeFolder(directory));
    const [witness, forger] = [new TestCosigner(), new TestCosigner()];
    // Nobody listens there.
    const witnesses = [{ url: "http://127.0.0.1:9", key: witness.key }];
    const one = await TestVenue.open(directory, { promises });
    await grow(one, 3, 650_000);
    await one.venue.promises?.log.advance();
    const { note } = one.venue.promises!.log.published!;
    await one.venue.close();
    rmSync(join(directory, "log-checkpoint"));
    const two = await TestVenue.open(directory, {
      promises: { ...promises, witnesses, isSigner: () => false },
    });
    const { log } = two.venue.promises!;
    const text = note.slice(0, note.indexOf("\n\n") + 1);
    await log.adopt(note + forger.line(text, witness.key));
    expect(log.published).toBeUndefined();
    const cosigned = note + witness.line(text);
    await log.adopt(cosigned);
    expect(log.published).toMatchObject({ note: cosigned, witnesses: [witness.key.name] });
    await two.venue.close();
  });

  test("lost blocks under a checkpoint: verify says so; accepted, it names them, and none is signed", async () => {
    const directory = await temporaryFolder();
    afterAll(() => removeFolder(directory));
    const data = join(directory, "data");
    const journal = join(data, "journal");
    const live = async (price: number, isAccepted = false) => {
      const driver = await TestVenue.open(data, { promises, acceptLoss: isAccepted });
      await grow(driver, 3, price);
      await driver.venue.promises?.log.advance();
      await driver.venue.close();
      return driver.venue.promises!;
    };
    await live(650_000);
    cpSync(journal, join(directory, "early"), { recursive: true });
    const { size } = (await live(651_000)).log.published!;
    rmSync(journal, { recursive: true });
    cpSync(join(directory, "early"), journal, { recursive: true });
    renameSync(join(data, "history"), join(directory, "history"));
    const covers = new RegExp(`checkpoint covers ${size} blocks; the log has \\d+`);
    expect((await verify(data)).fault?.reason).toMatch(covers);
    renameSync(join(directory, "history"), join(data, "history"));
    expect((await live(652_000, true)).log.conflict).toMatch(/differ from the last signed/);
    const report = await verify(data);
    expect(report.fault).toBeNull();
    expect(report.receipts.givenUpBlocks).toBe(size);
  });

  test("another log key in the same folder: refused at the start", async () => {
    const directory = await temporaryFolder();
    afterAll(() => removeFolder(directory));
    const driver = await TestVenue.open(directory, { promises });
    await grow(driver, 2, 650_000);
    await driver.venue.promises?.log.advance();
    await driver.venue.close();
    const other = { ...promises, logKey: newLogKey("venue.example/other").key };
    await expect(TestVenue.open(directory, { promises: other })).rejects.toThrow(
      "the last checkpoint is not of this log key",
    );
  });
});
