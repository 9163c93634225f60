/** The transparency log with an unmodified witness, over restarts, and with a forked history. */
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "@perpgate/journal/testing";
import {
  checkpointText,
  isNoteSignedBy,
  logKeyChain,
  noteKeyText,
  openCheckpoint,
  parseNoteKey,
  signatureLine,
} from "@perpgate/protocol/receipts";
import { TestCosigner } from "@perpgate/protocol/testing";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { type LogKey, newLogKey, signWith } from "../receipts/log-key.js";
import { verifyEd25519Now } from "../receipts/verify-ed25519.js";
import { dataFolder } from "../recovery/data-folder.js";
import { Litewitness, litewitnessProgram } from "../testing/litewitness.js";
import { StubWitness } from "../testing/stub-witness.js";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import type { PromiseOptions, VenueOptions } from "../venue-options.js";
import { verify } from "../verify/verify.js";
import { succeed } from "./successor-store.js";
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
  async function live(name: string, blocks: number, price: number, isAlone = false) {
    const waits = isAlone ? { witnessWaitMs: 0 } : {};
    const driver = await TestVenue.open(join(folder, name), {
      promises: { ...promises, ...waits },
    });
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
      verifyEd25519Now,
    );
    if (typeof opened === "string") throw new Error(opened);
    expect(await isNoteSignedBy(opened.note, witness.key, verifyEd25519Now)).toBe(true);
    expect(published?.witnesses).toEqual(["witness.example/w1"]);
  }

  test("cosigns, over restarts of the venue and of the witness", async () => {
    const first = await live("venue", 3, 650_000);
    await expectCosigned(first.published);
    await witness.stop();
    const alone = await live("venue", 5, 650_100, true);
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
    // What was published before the copy, which the witness has cosigned.
    await expectCosigned(forked.published);
    expect(forked.published?.size).toBeLessThan(ahead.published!.size);
  });

  test("a folder from before its last checkpoint, started before the witness: nothing is signed", async () => {
    const older = join(folder, "older-2");
    cpSync(join(folder, "venue"), older, { recursive: true });
    const remembered = readFileSync(join(older, "log-checkpoint"), "utf8");
    await expectCosigned((await live("venue", 3, 650_550)).published);
    await witness.stop();
    const driver = await TestVenue.open(older, {
      promises: { ...promises, witnessWaitMs: 600_000 },
    });
    const { log } = driver.venue.promises!;
    // Now it has more blocks than the witness has seen.
    await grow(driver, 9, 660_000);
    await log.advance();
    await expectCosigned(log.published);
    expect(log.published?.note.startsWith(remembered)).toBe(true);
    await witness.start();
    const conflict = await until(async () => {
      await log.advance();
      return log.conflict;
    });
    expect(conflict).toMatch(/witness witness.example\/w1 has seen \d+ blocks/);
    expect(log.published?.note.startsWith(remembered)).toBe(true);
    expect(log.stages.signed.count).toBe(0);
    expect(readFileSync(join(older, "log-checkpoint"), "utf8")).toBe(remembered);
    await driver.venue.close();
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
      { note: `${text}\n${line}`, size, consistencyFrom: () => [] },
      new AbortController().signal,
    );
    expect(answer).toEqual({ kind: "inconsistent", size });
  });
});

describe("with a witness that a test directs", () => {
  async function open(more: Partial<PromiseOptions>) {
    const directory = await temporaryFolder();
    const witness = await StubWitness.start();
    onTestFinished(async () => {
      witness.close();
      await removeFolder(directory);
    });
    const witnesses = [{ url: witness.url, key: witness.key }];
    const driver = await TestVenue.open(directory, {
      promises: { logKey, witnesses, checkpointMs: 60_000, ...more },
    });
    const { log, tree } = driver.venue.promises!;
    await log.advance();
    return { driver, witness, log, tree, directory, witnesses };
  }

  test("a witness has another history: the last checkpoint below it is served, also after a start", async () => {
    const { driver, witness, log, directory, witnesses } = await open({});
    await grow(driver, 2, 650_000);
    await log.advance();
    const uncontradicted = log.published!;
    await grow(driver, 2, 650_000);
    await log.advance();
    expect(log.published!.size).toBeGreaterThan(uncontradicted.size);
    await grow(driver, 1, 650_000);
    witness.onCheckpoint = async () => ({ status: 422 });
    await log.advance();
    expect(log.conflict).toMatch(/has seen another history/);
    expect(log.published?.note).toBe(uncontradicted.note);
    await driver.venue.close();
    // It has signed as many blocks as the last checkpoint here covers, and others.
    const last = readFileSync(join(directory, "log-checkpoint"), "utf8").split("\n")[1];
    witness.onCheckpoint = async () => ({ status: 409, text: `${last}\n` });
    const again = await TestVenue.open(directory, {
      promises: { logKey, witnesses, checkpointMs: 60_000 },
    });
    const { log: after } = again.venue.promises!;
    await after.advance();
    expect(after.conflict).toMatch(/has seen another history/);
    expect(Number(last)).toBeGreaterThan(after.published!.size);
    expect(after.published?.witnesses).toEqual([witness.key.name]);
    await again.venue.close();
  });

  test("a policy of two witnesses: published once both have cosigned, and served after a start", async () => {
    const second = await StubWitness.start("witness.example/w2");
    onTestFinished(() => second.close());
    const first = await StubWitness.start();
    onTestFinished(() => first.close());
    const directory = await temporaryFolder();
    onTestFinished(() => removeFolder(directory));
    const witnesses = [first, second].map(({ url, key }) => ({ url, key }));
    const promises = { logKey, witnesses, checkpointMs: 60_000, required: 2 };
    const life = async (blocks: number) => {
      const driver = await TestVenue.open(directory, { promises });
      const { log, policy } = driver.venue.promises!;
      await log.advance();
      await grow(driver, blocks, 650_000);
      await log.advance();
      await driver.venue.close();
      return { log, policy };
    };
    second.onCheckpoint = async () => ({ status: 404 });
    const { log, policy } = await life(2);
    expect(log.stages.signed.count).toBe(1);
    expect(log.published).toBeUndefined();
    expect(policy).toBe(
      [
        `log ${logKey.text}`,
        `witness w1 ${noteKeyText(first.key)} ${first.url}`,
        `witness w2 ${noteKeyText(second.key)} ${second.url}`,
        "group required 2 w1 w2",
        "quorum required\n",
      ].join("\n"),
    );
    second.onCheckpoint = async () => undefined;
    const met = (await life(2)).log.published!;
    expect(met.witnesses).toHaveLength(2);
    second.onCheckpoint = async () => ({ status: 404 });
    expect((await life(2)).log.published?.note).toBe(met.note);
  });

  test("another gateway signs a block that this one has not applied yet: it catches up and goes on", async () => {
    let catchUp = async () => undefined;
    const { driver, witness, log, tree } = await open({ caughtUp: () => catchUp() });
    await grow(driver, 2, 650_000);
    const ahead = tree.size + 1;
    witness.onCheckpoint = async () => ({ status: 409, text: `${ahead}\n` });
    catchUp = () => grow(driver, 1, 650_010).then(() => undefined);
    await log.advance();
    expect(log.conflict).toBeNull();
    expect(tree.size).toBe(ahead);
    witness.onCheckpoint = async () => undefined;
    await log.advance();
    expect(log.published).toMatchObject({ size: ahead, witnesses: [witness.key.name] });
    await driver.venue.close();
  });

  test("a block that is sealed while the witness is asked counts, without any catching up", async () => {
    const { driver, witness, log, tree } = await open({});
    await grow(driver, 2, 650_000);
    const ahead = tree.size + 1;
    witness.onCheckpoint = async () => {
      if (tree.size < ahead) await grow(driver, 1, 650_010);
      return { status: 409, text: `${ahead}\n` };
    };
    await log.advance();
    expect(log.conflict).toBeNull();
    await driver.venue.close();
  });

  test("a gateway that cannot catch up: the witness counts as failed, and nothing as a conflict", async () => {
    const { driver, witness, log, tree } = await open({
      caughtUp: () => Promise.reject(new Error("the log stalls")),
    });
    await grow(driver, 2, 650_000);
    witness.onCheckpoint = async () => ({ status: 409, text: `${tree.size + 1}\n` });
    await log.advance();
    expect(log.conflict).toBeNull();
    expect(log.witnesses).toMatchObject([{ failed: 1 }]);
    await driver.venue.close();
  });

  test("a size that is still larger once the gateway has caught up: a conflict", async () => {
    const { driver, witness, log, tree } = await open({ caughtUp: () => Promise.resolve() });
    await grow(driver, 2, 650_000);
    const ahead = tree.size + 1;
    witness.onCheckpoint = async () => ({ status: 409, text: `${ahead}\n` });
    await log.advance();
    expect(log.conflict).toBe(`witness ${witness.key.name} has seen ${ahead} blocks of this log`);
    await driver.venue.close();
  });

  test("the witness has other blocks, as many as this gateway: a conflict", async () => {
    const { driver, witness, log, tree } = await open({});
    await grow(driver, 2, 650_000);
    witness.onCheckpoint = async () => ({ status: 409, text: `${tree.size}\n` });
    await log.advance();
    expect(log.conflict).toBe(`witness ${witness.key.name} has seen another history of this log`);
    expect(log.published).toBeUndefined();
    await driver.venue.close();
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
    expect((await verify(two)).fault?.reason).toMatch(/is not that of log-checkpoint/);
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

  test("a checkpoint of another gateway over other blocks, found once they are sealed: none is signed", async () => {
    const directory = await temporaryFolder();
    afterAll(() => removeFolder(directory));
    const driver = await TestVenue.open(directory, { promises });
    const { log, tree } = driver.venue.promises!;
    await grow(driver, 1, 650_000);
    const size = tree.size + 1;
    const text = checkpointText({ origin: logKey.name, size, root: Buffer.alloc(32, 9) });
    const line = signatureLine(logKey, signWith(logKey.privateKey, Buffer.from(text)));
    await log.adopt(`${text}\n${line}`);
    await grow(driver, 1, 650_000);
    await log.advance();
    expect(log.conflict).toBe(`another gateway has signed ${size} other blocks`);
    expect(log.stages.signed.count).toBe(0);
    await driver.venue.close();
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
    const live = async (price: number, blocks = 3, more: Partial<VenueOptions> = {}) => {
      const driver = await TestVenue.open(data, { promises, ...more });
      await grow(driver, blocks, price);
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
    expect((await live(652_000, 0, { acceptLoss: true })).log.conflict).toMatch(covers);
    expect((await live(652_000, 9)).log.conflict).toMatch(covers);
    expect((await live(653_000)).log.conflict).toMatch(/differ from the last signed/);
    const report = await verify(data);
    expect(report.fault).toBeNull();
    expect(report.receipts.givenUpBlocks).toBe(size);
  });

  test("a checkpoint that cannot be read: a fault for verify, and refused at the start", async () => {
    const directory = await temporaryFolder();
    afterAll(() => removeFolder(directory));
    const driver = await TestVenue.open(directory, { promises });
    await grow(driver, 2, 650_000);
    await driver.venue.close();
    expect((await verify(directory)).fault).toBeNull();
    for (const text of ["", "not a checkpoint\n"]) {
      writeFileSync(join(directory, "log-checkpoint"), text);
      expect((await verify(directory)).fault?.reason).toBe(
        "log-checkpoint is no signed checkpoint",
      );
      await expect(TestVenue.open(directory, { promises })).rejects.toThrow(
        "the checkpoint cannot be read",
      );
    }
  });

  test("a new log key that the old one announced: the log continues under it", async () => {
    const directory = await temporaryFolder();
    afterAll(() => removeFolder(directory));
    const life = async (key: LogKey, blocks: number) => {
      const driver = await TestVenue.open(directory, { promises: { ...promises, logKey: key } });
      await grow(driver, blocks, 650_000);
      await driver.venue.promises!.log.advance();
      await driver.venue.close();
      return driver.venue.promises!;
    };
    const before = (await life(logKey, 2)).log.published!;
    const next = newLogKey("venue.example/next").key;
    const file = dataFolder(directory).logSuccessors;
    await succeed(file, logKey, next);
    await expect(life(logKey, 1)).rejects.toThrow("only that one may sign");
    const { log, successors } = await life(next, 0);
    expect(log.published).toMatchObject({ origin: next.name, size: before.size });
    const chain = await logKeyChain(logKey, successors, verifyEd25519Now);
    expect(typeof chain === "string" ? chain : chain.map(noteKeyText)).toEqual([
      logKey.text,
      next.text,
    ]);
    const grown = (await life(next, 2)).log.published!;
    expect(grown.size).toBeGreaterThan(before.size);
    // Again, without any effect; and not to another one.
    await succeed(file, logKey, next);
    await expect(succeed(file, logKey, newLogKey().key)).rejects.toThrow("was succeeded by");
    await expect(succeed(file, next, logKey)).rejects.toThrow("circle");
    expect((await life(next, 0)).successors).toEqual(successors);
    writeFileSync(file, "[");
    await expect(life(next, 0)).rejects.toThrow("is no list of successor notes");
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
