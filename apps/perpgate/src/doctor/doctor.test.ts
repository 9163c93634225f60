/** `perpgate doctor`: a machine that is fine, and each kind of problem with its advice. */

import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_SETTINGS } from "../serve/settings.js";
import { commandHere } from "../testing/command-here.js";
import {
  configurationFile,
  type Ended,
  PerpgateProcess,
  temporaryFolder,
} from "../testing/perpgate-process.js";
import type { Finding } from "./finding.js";
import { checkBacklog, checkClock, checkNode, checkOpenFiles } from "./machine-checks.js";
import { checkServers } from "./network-checks.js";

function findings({ stdout }: Ended): readonly Finding[] {
  return JSON.parse(stdout).checks;
}

function statusOf(ended: Ended, check: string): string | undefined {
  return findings(ended).find((finding) => finding.check === check)?.status;
}

/** A server that greets every connection with a text. */
async function listen(greeting = ""): Promise<number> {
  const server = createServer((socket) => void socket.end(greeting)).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

test("a machine that is fine: every check, no problem, and nothing left in the folder", async () => {
  const data = temporaryFolder();
  const run = await new PerpgateProcess(["doctor", "--data", data, "--port", "0", "--json"]).ended;
  expect(findings(run).filter(({ status }) => status === "problem")).toEqual([]);
  expect(run.code).toBe(0);
  expect(findings(run).map(({ check }) => check)).toEqual([
    ...["node", "modules", "processors", "memory", "open files", "backlog", "clock", "settings"],
    ...[
      "build",
      "data folder",
      "disk space",
      "file system",
      "lock",
      "sync",
      "port",
      "metrics port",
    ],
  ]);
  expect(readdirSync(data)).toEqual([]);
});

test("no flock, a taken port, servers that do not run: problems with advice, exit code 1", async () => {
  const port = await listen();
  const args = ["doctor", "--data", temporaryFolder(), "--port", String(port), "--json"];
  const log = ["--log", "nats://127.0.0.1:1"];
  const run = await commandHere([...args, ...log], { PATH: "/nowhere" });
  expect(run.code).toBe(1);
  for (const check of ["lock", "port", "settings", "server nats://127.0.0.1:1", "log"]) {
    expect(statusOf(run, check), check).toBe("problem");
  }
  const without = findings(run).filter(
    ({ status, advice }) => status !== "ok" && advice === undefined,
  );
  expect(without).toEqual([]);
});

test("a wrong setting, and a data folder that is a file: named, as text", async () => {
  const file = join(temporaryFolder(), "data");
  writeFileSync(file, "");
  const setting = await commandHere(["doctor"], { PERPGATE_PORT: "many" });
  expect(setting.stdout).toMatch(/^problem {2}settings {2}PERPGATE_PORT: "many" is not a whole/m);
  expect(setting.stdout).toMatch(/^1 problem, no warnings$/m);
  const config = configurationFile({ server: { trustProxy: ["proxy.internal"] } });
  const proxy = await commandHere(["doctor", "--config", config]);
  expect(proxy.stdout).toMatch(/^problem {2}settings {2}.*"proxy.internal" is not an IP address/m);
  expect(proxy.code).toBe(1);
  const folder = await commandHere(["doctor", "--data", file, "--port", "0"]);
  expect(folder.stdout).toMatch(/^problem {2}data folder .* is not a folder$/m);
  expect(folder.code).toBe(1);
});

test("Node, open files, backlog and clock: by what the system says", () => {
  const root: { engines: { node: string } } = JSON.parse(
    readFileSync(new URL("../../../../package.json", import.meta.url), "utf8"),
  );
  const needed = root.engines.node.replace(">=", "");
  expect(checkNode(`${needed}.0`).status).toBe("ok");
  expect(checkNode("20.18.9").status).toBe("problem");
  expect(checkNode("18.20.0").advice).toContain(needed);
  const files = (limit: string) =>
    checkOpenFiles(DEFAULT_SETTINGS, `Max open files            ${limit}                 files\n`);
  expect(files("unlimited").status).toBe("ok");
  expect(files("65536").status).toBe("ok");
  expect(files("4096").status).toBe("warning");
  expect(files("256").status).toBe("problem");
  expect(checkBacklog("128\n").status).toBe("warning");
  const data = temporaryFolder();
  mkdirSync(join(data, "journal"));
  const settings = { ...DEFAULT_SETTINGS, data };
  expect(checkClock(settings, Date.now() - 3_600_000).status).toBe("problem");
  expect(checkClock(settings).status).not.toBe("problem");
});

test("servers of a log: too old, without JetStream, or fine; a majority is enough", async () => {
  const info = (fields: object) => listen(`INFO ${JSON.stringify(fields)}\r\n`);
  const fine = { version: "2.12.3", jetstream: true, max_payload: 1_048_576 };
  const ports = [
    await info(fine),
    await info({ ...fine, version: "2.13.0-beta.1" }),
    await info({ ...fine, version: "2.11.9" }),
    await info({ ...fine, jetstream: false }),
    await listen("SSH-2.0\r\n"),
  ];
  const servers = ports.map((port) => `nats://127.0.0.1:${port}`);
  const check = (log: readonly string[]) =>
    checkServers({ ...DEFAULT_SETTINGS, log: { servers: [...log] } });
  const each = await check(servers);
  expect(each.map(({ status }) => status)).toEqual([
    ...["ok", "ok", "problem", "problem", "problem", "problem"],
  ]);
  const most = await check(servers.slice(0, 3));
  expect(most.map(({ status }) => status)).toEqual(["ok", "ok", "warning"]);
  expect(await checkServers(DEFAULT_SETTINGS)).toEqual([]);
});
