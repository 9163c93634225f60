import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openJournal } from "./open-journal.js";
import { describeJournal } from "./testing/contract.js";
import { FakeDisk } from "./testing/fake-disk.js";

describeJournal("files on a simulated disk", async () => {
  const disk = new FakeDisk(1);
  return {
    open: () => openJournal({ directory: "/log", disk, segmentBytes: 2 ** 21 }),
    dispose: async () => undefined,
  };
});

describeJournal("files, committed in the caller's thread", async () => {
  const directory = await mkdtemp(join(tmpdir(), "journal-"));
  return {
    open: () => openJournal({ directory, segmentBytes: 2 ** 21, commit: "inline" }),
    dispose: () => rm(directory, { recursive: true }),
  };
});
