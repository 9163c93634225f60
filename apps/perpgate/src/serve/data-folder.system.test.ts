import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MAIN, PerpgateProcess, temporaryFolder } from "../testing/perpgate-process.js";
import { closeToOthers, prepareDataFolder } from "./data-folder.js";

const modeOf = (path: string) => statSync(path).mode & 0o777;

function everythingIn(folder: string): string[] {
  return [
    folder,
    ...readdirSync(folder, { recursive: true }).map((name) => join(folder, `${name}`)),
  ];
}

describe("data folder", () => {
  test("closeToOthers: folders and files of an earlier version are closed", () => {
    const folder = prepareDataFolder(join(temporaryFolder(), "data"));
    mkdirSync(join(folder, "journal"));
    writeFileSync(join(folder, "journal", "1.log"), "");
    writeFileSync(join(folder, "checkpoints.jsonl"), "");
    for (const path of everythingIn(folder))
      chmodSync(path, statSync(path).isFile() ? 0o644 : 0o755);
    expect(closeToOthers(folder)).toEqual([]);
    for (const path of everythingIn(folder)) {
      expect(modeOf(path), path).toBe(statSync(path).isFile() ? 0o600 : 0o700);
    }
  });

  test("closeToOthers: a folder with foreign files is unchanged and reported", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "journal"));
    writeFileSync(join(folder, "notes.txt"), "");
    for (const path of everythingIn(folder)) chmodSync(path, 0o755);
    expect(closeToOthers(folder)).toEqual([folder]);
    expect(modeOf(folder)).toBe(0o755);
    expect(modeOf(join(folder, "notes.txt"))).toBe(0o755);
    expect(modeOf(join(folder, "journal"))).toBe(0o700);
  });

  test("serve and backup: nothing they write can be read by others, whatever the umask", async () => {
    const parent = temporaryFolder();
    const [data, copy] = [join(parent, "data"), join(parent, "copy")];
    const command = ["sh", "-c", 'umask 0; exec "$@"', "sh", process.execPath, MAIN] as const;
    const perpgate = new PerpgateProcess(["--port", "0", "--data", data], {}, command);
    await perpgate.url();
    const backup = new PerpgateProcess(["backup", "--data", data, "--to", copy], {}, command);
    expect(await backup.ended).toMatchObject({ code: 0 });
    const paths = [...everythingIn(data), ...everythingIn(copy)];
    expect(paths).toContain(join(data, "control.sock"));
    expect(paths).toContain(join(data, "history", "history.sqlite"));
    for (const path of paths) expect(modeOf(path) & 0o077, path).toBe(0);
    perpgate.signal("SIGTERM");
    expect(await perpgate.ended).toMatchObject({ code: 0 });
    for (const path of everythingIn(data)) expect(modeOf(path) & 0o077, path).toBe(0);
  });
});
