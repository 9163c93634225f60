import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open as openFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Random } from "@perpgate/protocol/random";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openJournal } from "./open-journal.js";
import { recordOf } from "./testing/append-child.js";
import { appendMany, describeJournal, id, readAll } from "./testing/contract.js";

const SEGMENT_BYTES = 2 ** 21;
const KILLS = Number(process.env.JOURNAL_KILLS ?? 2);
const PACKAGE = fileURLToPath(new URL("..", import.meta.url));

// Threads and child processes run built code; the build does nothing when it is up to date.
beforeAll(() => {
  const compiler = fileURLToPath(new URL("../../../node_modules/.bin/tsc", import.meta.url));
  execFileSync(compiler, ["-b", PACKAGE]);
});

describeJournal("files, committed in a thread", async () => {
  const directory = await mkdtemp(join(tmpdir(), "journal-"));
  return {
    open: () => openJournal({ directory, segmentBytes: SEGMENT_BYTES }),
    dispose: () => rm(directory, { recursive: true }),
  };
});

describe("journal in threads and processes", () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "journal-"));
  });

  afterEach(() => rm(directory, { recursive: true, force: true }));

  const open = () => openJournal({ directory, segmentBytes: SEGMENT_BYTES });

  test("append: over several segments, each created in advance", async () => {
    const journal = await openJournal({ directory, segmentBytes: SEGMENT_BYTES / 4 });
    for (let from = 0; from < 8_000; from += 1_000) await appendMany(journal, from, from + 1_000);
    expect(journal.end.batch).toBe(8_000);
    expect(await readAll(journal)).toHaveLength(8_000);
    await journal.close();
    const segments = (await readdir(directory)).filter((name) => name.endsWith(".log"));
    expect(segments.length).toBeGreaterThan(2);
  });

  test("append: a next segment that cannot be created stops the journal at the rotation", async () => {
    const journal = await open();
    // The committing thread may be making a file there at this very moment.
    await rm(directory, { recursive: true, maxRetries: 50 });
    const large = [new Uint8Array(SEGMENT_BYTES / 4)];
    let stopped: unknown;
    for (let counter = 0; stopped === undefined; counter++) {
      await journal.append(id(counter), large).catch((error: unknown) => {
        stopped = error;
      });
    }
    expect(stopped).toMatchObject({ code: "journal_stopped", cause: { code: "ENOENT" } });
    expect(await journal.stopped).toBe(stopped);
    await expect(journal.append(id(99), large)).rejects.toBe(stopped);
    await journal.close();
  });

  test("prune: between commits, which go on meanwhile", async () => {
    const journal = await openJournal({ directory, segmentBytes: SEGMENT_BYTES / 4 });
    await appendMany(journal, 0, 8_000);
    const at = journal.end;
    // Many, so that some arrive when the thread is about to wait.
    for (let count = 0; count < 300; count++) {
      await expect(journal.pruneBetweenCommits(at)).rejects.toThrow("there is no valid snapshot");
    }
    journal.snapshots.write(at, [Buffer.alloc(3 * 1024 * 1024, 7)]);
    const logs = async () => (await readdir(directory)).filter((name) => name.endsWith(".log"));
    const before = (await logs()).length;
    const [removed, again] = await Promise.all([
      journal.pruneBetweenCommits(at),
      journal.pruneBetweenCommits(at),
      appendMany(journal, 8_000, 8_100),
    ]);
    expect(removed).toBeGreaterThan(0);
    expect(again).toBe(0);
    expect((await logs()).length).toBe(before - removed);
    const beyond = journal.pruneBetweenCommits(journal.end);
    await expect(beyond).rejects.toThrow("the newest valid snapshot is at batch 8000");
    await journal.close();
    await expect(journal.pruneBetweenCommits(at)).rejects.toMatchObject({ code: "journal_closed" });
  });

  test("open: refused while another process has it, allowed once that is killed", async () => {
    const child = startChild(directory);
    await child.acknowledged(1);
    await expect(open()).rejects.toThrow(`in use by process ${child.process.pid}`);
    await child.kill();
    await (await open()).close();
  });

  test.each([
    ["removed", (at: string) => rm(join(at, "lock"))],
    ["replaced", (at: string) => rm(join(at, "lock")).then(() => writeFile(join(at, "lock"), "1"))],
  ])(
    "open: refused while another process has it, also after its lock file was %s",
    async (_, change) => {
      const child = startChild(directory);
      await child.acknowledged(1);
      await change(directory);
      await expect(open()).rejects.toMatchObject({ code: "journal_locked" });
      await child.kill();
      await (await open()).close();
    },
  );

  test("open: refused through a symbolic link to a directory that is in use", async () => {
    const child = startChild(directory);
    await child.acknowledged(1);
    const link = `${directory}-link`;
    await symlink(directory, link);
    try {
      const linked = openJournal({ directory: link, segmentBytes: SEGMENT_BYTES });
      await expect(linked).rejects.toThrow(`in use by process ${child.process.pid}`);
    } finally {
      await rm(link);
      await child.kill();
    }
  });

  test("open: refused while an older version has the lock file alone", async () => {
    const file = await openFile(join(directory, "lock"), "w+");
    const locked = spawnSync("flock", ["-n", "-x", "3"], {
      stdio: ["ignore", "ignore", "ignore", file.fd],
    });
    expect(locked.status).toBe(0);
    await expect(open()).rejects.toMatchObject({ code: "journal_locked" });
    await file.close();
    await (await open()).close();
  });

  test("every file it makes is its owner's alone, whatever the umask", async () => {
    const before = process.umask(0);
    const nested = join(directory, "new");
    try {
      const journal = await openJournal({ directory: nested, segmentBytes: SEGMENT_BYTES });
      await appendMany(journal, 0, 3);
      journal.snapshots.write(journal.end, [Buffer.from("state")]);
      await journal.close();
    } finally {
      process.umask(before);
    }
    const names = await readdir(nested);
    expect(names).toEqual(expect.arrayContaining(["lock", expect.stringMatching(/log$/)]));
    for (const name of names) {
      expect((await stat(join(nested, name))).mode & 0o777, name).toBe(0o600);
    }
    expect((await stat(nested)).mode & 0o777).toBe(0o700);
  });

  test(`recover: ${KILLS} times kill -9 under load, every acknowledged batch is there`, async () => {
    const seed = Number(process.env.JOURNAL_SEED ?? 1);
    const random = new Random(seed);
    for (let round = 1; round <= KILLS; round++) {
      const child = startChild(directory);
      const acknowledged = await child.acknowledged(200 + random.below(8_000));
      await child.kill();
      const journal = await open();
      const batches = await readAll(journal);
      await journal.close();
      const where = `seed ${seed}, kill ${round}`;
      expect(batches.length, where).toBeGreaterThan(Math.max(...acknowledged()));
      for (const [index, batch] of batches.entries()) {
        const intact =
          batch.id.counter === index &&
          Buffer.compare(batch.records[0] ?? Buffer.alloc(0), recordOf(index)) === 0;
        expect(intact, `${where}, batch ${index}`).toBe(true);
      }
    }
  });
});

interface Child {
  readonly process: ChildProcess;
  /** Waits for `count` acknowledgements; the list grows until the child is dead. */
  acknowledged(count: number): Promise<() => readonly number[]>;
  kill(): Promise<void>;
}

function startChild(directory: string): Child {
  const script = join(PACKAGE, "dist/testing/append-child.js");
  const child = spawn(process.execPath, [script, directory, String(SEGMENT_BYTES)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const counters: number[] = [];
  const lines = createInterface({ input: child.stdout });
  const ended = Promise.all([once(lines, "close"), once(child, "exit")]);
  lines.on("line", (line) => {
    if (line !== "open") counters.push(Number(line));
    lines.emit("acknowledged");
  });
  return {
    process: child,
    async acknowledged(count) {
      while (counters.length < count) await once(lines, "acknowledged");
      return () => counters;
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
