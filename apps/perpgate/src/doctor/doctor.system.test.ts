/** `perpgate doctor`: a machine that is fine, and each kind of problem with its advice. */

import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { TestCosigner } from "@perpgate/protocol/testing";
import { NOTHING_ARCHIVED, newLogKey, noteArchived } from "@perpgate/venue";
import { busyVenue, editStore } from "@perpgate/venue/testing";
import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_SETTINGS } from "../serve/settings.js";
import { commandHere } from "../testing/command-here.js";
import {
  configurationFile,
  type Ended,
  PerpgateProcess,
  temporaryFolder,
} from "../testing/perpgate-process.js";
import { checkHistory } from "./doctor.js";
import type { Finding } from "./finding.js";
import {
  checkBacklog,
  checkClock,
  checkHeap,
  checkMemory,
  checkNode,
  checkOpenFiles,
} from "./machine-checks.js";
import { checkControl, checkCores, checkServers } from "./network-checks.js";

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
    ...[
      "node",
      "modules",
      "processors",
      "memory",
      "heap",
      "open files",
      "backlog",
      "clock",
      "settings",
    ],
    ...[
      "build",
      "data folder",
      "disk space",
      "file system",
      "lock",
      "sync",
      "history",
      "port",
      "metrics port",
    ],
  ]);
  expect(readdirSync(data)).toEqual([]);
});

test("the history: what is kept and from when; an archive that stands still is a warning", async () => {
  const data = temporaryFolder();
  const settings = { ...DEFAULT_SETTINGS, data };
  const archive = { postgres: "postgresql:///perpgate" };
  expect(checkHistory(settings).found).toBe("rows of 30 days are kept; there are none yet");
  const { venue } = (await busyVenue(data)).driver;
  const block = venue.history.block(1);
  await venue.close();
  const position = venue.seq;
  const all = new RegExp(
    `^rows of 30 days are kept: [0-9.]+ MiB up to position ${position}, from the beginning on$`,
  );
  expect(checkHistory(settings)).toMatchObject({
    status: "ok",
    found: expect.stringMatching(all),
  });
  editStore(data, (store) =>
    store.exec("UPDATE store SET kept_from = 9, kept_from_ms = 1800000000000"),
  );
  const history = { hotDays: 2, maxMiB: 500 };
  expect(checkHistory({ ...settings, history }).found).toMatch(
    /^rows of 2 days are kept, 500 MiB at most: .* from 2027-01-15T08:00:00.000Z on$/,
  );
  noteArchived(data, {
    ...NOTHING_ARCHIVED,
    venue: venue.listing.venueId ?? "",
    position: 7,
    block: 1,
    blockHash: block?.hash.toString("hex") ?? "",
    openHash: "0".repeat(64),
  });
  const fed = checkHistory({ ...settings, archive });
  expect(fed).toMatchObject({
    status: "ok",
    found: expect.stringMatching(/archive is at position 7$/),
  });
  editStore(data, (store) => store.exec("UPDATE store SET position = 2000000"));
  expect(checkHistory({ ...settings, archive })).toMatchObject({
    status: "warning",
    advice: expect.stringContaining("no row that it lacks is dropped"),
  });
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

test("a page folder without a page: a problem, next to all other checks", async () => {
  const page = temporaryFolder();
  const config = configurationFile({ server: { page } });
  const args = ["doctor", "--data", temporaryFolder(), "--port", "0", "--json"];
  const run = await commandHere([...args, "--config", config]);
  expect(findings(run).find(({ check }) => check === "settings")).toMatchObject({
    status: "problem",
    found: `server.page: ${page} has no index.html`,
  });
  expect(statusOf(run, "sync")).toBeDefined();
  expect(run.code).toBe(1);
});

/** Settings of a gateway with files that this makes, and what `doctor` says of them. */
async function settingsFinding(settings: (folder: string) => object): Promise<string | undefined> {
  const [data, folder] = [temporaryFolder(), temporaryFolder()];
  const config = configurationFile(settings(folder));
  const args = ["doctor", "--data", data, "--port", "0", "--json"];
  const run = await commandHere([...args, "--config", config]);
  expect(readdirSync(data)).toEqual([]);
  return findings(run).find(({ check }) => check === "settings")?.found;
}

test("files and keys that a start refuses: named, and no key is made", async () => {
  const { secret } = newLogKey();
  const logKey = (folder: string, mode = 0o600) => {
    const file = join(folder, "log.key");
    writeFileSync(file, secret);
    chmodSync(file, mode);
    return file;
  };
  const servers = ["nats://127.0.0.1:1"];
  const found = settingsFinding;
  expect(await found((folder) => ({ receipts: { logKey: logKey(folder) } }))).toBe("valid");
  expect(await found((folder) => ({ receipts: { logKey: logKey(folder, 0o644) } }))).toContain(
    "(mode 644), and it holds keys",
  );
  expect(await found((folder) => ({ receipts: { logKey: join(folder, "none") } }))).toContain(
    "there is no log key in ",
  );
  const witness = { url: "http://127.0.0.1:1", key: "other+00000000+AAAA" };
  expect(await found(() => ({ receipts: { witnesses: [witness] } }))).toContain(
    "receipts.witnesses: other+00000000+AAAA is not the verifier key",
  );
  expect(await found(() => ({ receipts: { policy: "strict" } }))).toContain(
    "receipts.policy strict requires 1 of 0 witnesses",
  );
  expect(await found(() => ({ receipts: { require: 1 } }))).toContain(
    "receipts.require is for receipts.policy strict",
  );
  const { text: key } = new TestCosigner();
  const strict = (...keys: string[]) => {
    const witnesses = keys.map((each) => ({ ...witness, key: each }));
    return { receipts: { policy: "strict", require: 2, witnesses } };
  };
  expect(await found(() => strict(key))).toContain("requires 2 of 1 witnesses");
  expect(await found(() => strict(key, key))).toContain("is there twice");
  expect(await found(() => strict(key, new TestCosigner("w2").text))).toBe("valid");
  expect(
    await found((folder) => ({
      receipts: { logKey: logKey(folder) },
      log: { servers, credentials: join(folder, "gateway.creds") },
    })),
  ).toMatch(/^cannot read .*gateway\.creds: ENOENT/);
});

test("heap: a problem below what the state needs, a warning below what is usual", () => {
  const need = { leastMiB: 196, usualMiB: 712 };
  const found = (limitMiB: number) => checkHeap(DEFAULT_SETTINGS, { ...need, limitMiB });
  expect(found(128)).toEqual({
    check: "heap",
    status: "problem",
    found: "at most 128 MiB, and the state needs 196",
    advice: "start node with --max-old-space-size=712 or more",
  });
  expect([found(256).status, found(712).status]).toEqual(["warning", "ok"]);
});

test("memory: by the number of edges", () => {
  const data = temporaryFolder();
  const found = (edges: number, gib: number) =>
    checkMemory({ ...DEFAULT_SETTINGS, data, edges }, gib * 2 ** 30);
  expect(found(1, 1).status).toBe("ok");
  expect(found(8, 1)).toMatchObject({
    status: "warning",
    advice:
      "give the venue 2.3 GiB or more, or lower edges (8); core, history caches and edges use it",
  });
  expect([found(8, 2.3).status, found(8, 2.4).status]).toEqual(["warning", "ok"]);
});

test("Node, open files, backlog and clock: by what the system says", () => {
  expect(checkNode("24.0.0").status).toBe("ok");
  expect(checkNode("22.22.0")).toMatchObject({
    status: "problem",
    advice: "install Node 24 or later",
  });
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

test("cores that lead by turns: a name that is none of them, edges that would not reach the others", () => {
  const servers = ["nats://127.0.0.1:1"];
  const cores = ["a", "b", "c"];
  const of = (name: string, link: object = {}) =>
    checkCores({ ...DEFAULT_SETTINGS, name, log: { servers, cores }, link });
  expect(checkCores(DEFAULT_SETTINGS)).toEqual([]);
  expect(checkCores({ ...DEFAULT_SETTINGS, log: { servers } })).toMatchObject([
    { status: "problem", found: "log.cores is missing" },
  ]);
  expect(of("d")).toMatchObject([{ status: "problem", found: "d is not in log.cores" }]);
  const listen = "10.0.0.2:7700";
  expect(of("b", { listen, cores: ["10.0.0.1:7700"] })).toMatchObject([
    { status: "problem", found: "b is number 2 of 3; links lead to 1 of 2 others" },
  ]);
  const others = ["10.0.0.1:7700", "10.0.0.3:7700"];
  expect(of("b", { cores: others })).toMatchObject([{ status: "problem" }]);
  expect(of("b", { listen, cores: others })).toMatchObject([
    { status: "ok", found: "b is number 2 of 3" },
  ]);
});

test("a server of a log with an IPv6 address: connected to without its brackets", async () => {
  const [found] = await checkServers({
    ...DEFAULT_SETTINGS,
    log: { servers: ["nats://[::1]:1"] },
  });
  expect(found?.found).toMatch(/^connect E\w+ ::1:1/);
});

test("a control socket without access: a venue may be running; any other error: none is", () => {
  const failure = (code: string) => Object.assign(new Error(`connect ${code} /data`), { code });
  expect(checkControl(failure("EACCES"))).toMatchObject([
    { check: "control socket", status: "problem", advice: expect.stringContaining("as its user") },
  ]);
  expect(checkControl(failure("ENOENT"))).toEqual([]);
  expect(checkControl(undefined)).toEqual([]);
});
