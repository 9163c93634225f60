import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  configurationFile,
  PerpgateProcess,
  temporaryFolder,
} from "../testing/perpgate-process.js";

function serving(page: string | false): PerpgateProcess {
  const config = configurationFile({ server: { page }, logLevel: "error" });
  const data = join(temporaryFolder(), "data");
  return new PerpgateProcess(["--port", "0", "--data", data, "--config", config]);
}

test("server.page: the folder is served at /, and the banner names it", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "index.html"), "<!doctype html>here");
  const child = serving(folder);
  const url = await child.url();
  expect(await (await fetch(`${url}/`)).text()).toBe("<!doctype html>here");
  expect((await fetch(`${url}/v1/markets`)).status).toBe(200);
  child.signal("SIGTERM");
  expect((await child.ended).stdout).toContain(`trade      ${url}/\n`);
});

test("server.page false: no page, and / is an unknown path", async () => {
  const child = serving(false);
  const answer = await fetch(`${await child.url()}/`);
  expect([answer.status, await answer.json()]).toMatchObject([404, { code: "not_found" }]);
});

test("server.page without index.html: refused in one line", async () => {
  const folder = temporaryFolder();
  const { code, stderr } = await serving(folder).ended;
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `perpgate: server.page: ${folder} has no index.html\n`,
  });
});
