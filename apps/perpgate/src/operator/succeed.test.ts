import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newLogKey } from "@perpgate/venue";
import { expect, test } from "vitest";
import { commandHere } from "../testing/command-here.js";
import { temporaryFolder } from "../testing/perpgate-process.js";

function keyFile(path: string) {
  const { key, secret } = newLogKey("venue.example/log");
  writeFileSync(path, `${secret}\n`, { mode: 0o600 });
  return { key, text: `${secret}\n` };
}

test("succeed: log.key of the folder is replaced, the old one is kept; again, refused", async () => {
  const data = temporaryFolder();
  const file = join(temporaryFolder(), "new.key");
  const [old, next] = [keyFile(join(data, "log.key")), keyFile(file)];
  const ended = await commandHere(["succeed", file, "--data", data]);
  expect(ended).toMatchObject({ code: 0, stdout: `${next.key.text} succeeds ${old.key.text}\n` });
  expect(readFileSync(join(data, "log.key"), "utf8")).toBe(next.text);
  const kept = readdirSync(data).find((name) => name.startsWith("log.key."));
  expect(readFileSync(join(data, kept ?? ""), "utf8")).toBe(old.text);
  expect(await commandHere(["succeed", file, "--data", data])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is the present log key"),
  });
});

test("succeed --key: the folder gets the note alone; a missing key is named", async () => {
  const data = temporaryFolder();
  const keys = temporaryFolder();
  const [old, next] = [keyFile(join(keys, "old")), keyFile(join(keys, "new"))];
  const call = ["succeed", join(keys, "new"), "--data", data];
  expect(await commandHere(call)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("there is no log key in"),
  });
  const { stdout } = await commandHere([...call, "--key", join(keys, "old"), "--json"]);
  expect(JSON.parse(stdout)).toEqual({ from: old.key.text, to: next.key.text });
  expect(readdirSync(data)).toEqual(["log-successors.json"]);
});
