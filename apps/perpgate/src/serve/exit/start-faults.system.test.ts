/** Disk errors while a process starts, and segments of the log that cannot be allocated ahead. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { compileFaultLibrary, type Fault, FaultControl } from "../../testing/faulty-disk.js";
import { PerpgateProcess, temporaryFolder } from "../../testing/perpgate-process.js";

const EXIT_MS = 5_000;
const library = compileFaultLibrary(afterAll);

/** A data folder on a disk that can be made to fail. */
function faultyFolder() {
  const folder = temporaryFolder();
  const data = join(folder, "data");
  const disk = new FaultControl("path" in library ? library.path : "", folder);
  // Of the usual size, which takes many writes.
  const environment = { ...disk.environment, PERPGATE_SEGMENT_MIB: "64" };
  const start = () => new PerpgateProcess(["--port", "0", "--data", data], environment);
  return { data, disk, start };
}

describe.skipIf("missing" in library)("a disk that fails while the process starts", () => {
  /** Each start finds what the failed ones before it left. */
  const FAULTS: readonly (readonly [Fault, RegExp])[] = [
    [{ call: "write", error: "ENOSPC", path: "log.key" }, /cannot write .*log\.key: ENOSPC/],
    [{ call: "sync", error: "EIO", path: "log.key" }, /cannot write .*log\.key: EIO/],
    [
      { call: "write", error: "ENOSPC", path: ".log" },
      /no room in .*journal for a log: each .* 67108864 bytes/,
    ],
    [{ call: "write", error: "ENOSPC", path: ".log", after: 20 }, /no room in .*journal for a log/],
    [{ call: "sync", error: "EIO", path: ".log" }, /EIO: i\/o error, fdatasync/],
    [{ call: "rename", error: "EIO", path: ".log" }, /EIO: i\/o error, rename/],
    [{ call: "write", error: "EIO", path: "journal/lock" }, /EIO: i\/o error, write/],
    [
      { call: "write", error: "ENOSPC", path: "history/" },
      /cannot use .*history: database or disk is full/,
    ],
    [{ call: "sync", error: "EIO", path: "history/" }, /cannot use .*history: disk I\/O error/],
  ];

  test("the first start fails at each place: one line, code 1, and the next start works", async () => {
    const { disk, start } = faultyFolder();
    for (const [fault, reason] of FAULTS) {
      disk.trigger(fault);
      const failing = start();
      await failing.printed(/^perpgate: /m, "stderr");
      const { code, signal, stderr } = await failing.endedWithin(EXIT_MS);
      const lines = stderr.split("\n").filter((line) => line !== "" && !line.startsWith("{"));
      expect([code, signal], stderr).toEqual([1, null]);
      expect(lines).toEqual([expect.stringMatching(/^perpgate: /)]);
      expect(lines[0]).toMatch(reason);
      disk.clear();
    }
    await start().url();
  });

  test.each(["wallet", "session", "attestor", "log"])(
    "keygen %s without room: one line, code 1, and no file is left",
    async (kind) => {
      const folder = temporaryFolder();
      const disk = new FaultControl("path" in library ? library.path : "", temporaryFolder());
      disk.trigger({ call: "write", error: "ENOSPC", path: "new.key" });
      const file = join(folder, "new.key");
      const ended = await new PerpgateProcess(["keygen", kind, file], disk.environment).ended;
      expect(ended).toMatchObject({
        code: 1,
        stderr: `perpgate: cannot write ${file}: ENOSPC: no space left on device, write\n`,
      });
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  test("keygen on a file system without hard links: the key is written, once", async () => {
    const file = join(temporaryFolder(), "new.key");
    const disk = new FaultControl("path" in library ? library.path : "", temporaryFolder());
    disk.trigger({ call: "link", error: "EPERM", path: "new.key" });
    const keygen = () => new PerpgateProcess(["keygen", "session", file], disk.environment).ended;
    expect(await keygen()).toMatchObject({ code: 0, stderr: "" });
    const key = readFileSync(file, "utf8");
    expect(key).toMatch(/^[0-9a-f]{64}\n$/);
    const again = await keygen();
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("not overwritten") });
    expect(readFileSync(file, "utf8")).toBe(key);
  });

  test("no room for the next segment: logged, tried again, allocated once there is room", async () => {
    const spare = "0000000002.log";
    const { data, disk, start } = faultyFolder();
    disk.trigger({ call: "write", error: "ENOSPC", path: spare });
    const perpgate = start();
    await perpgate.url();
    await perpgate.printed(/"failures":2.*could not be allocated/, "stderr");
    expect(existsSync(join(data, "journal", spare))).toBe(false);
    disk.clear();
    await perpgate.printed(/the next segment of the log is allocated/, "stderr");
    expect(existsSync(join(data, "journal", spare))).toBe(true);
    perpgate.signal("SIGTERM");
    expect(await perpgate.ended).toMatchObject({ code: 0 });
  });
});
