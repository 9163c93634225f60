/**
 * `perpgate cluster init`, `status`, `join`, `leave` and `reseed`, and gateways, as processes with one
 * real server: what they do, what they refuse, and how they say it.
 */

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isWithoutNatsServer, NatsCluster } from "@perpgate/cluster/testing";
import { openJournal } from "@perpgate/journal";
import { freePort, until } from "@perpgate/journal/testing";
import { newLogKey } from "@perpgate/venue";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { newAuthorityFiles, newCertificateFiles } from "../operator/link-keys.js";
import { ProcessClient } from "../testing/client.js";
import {
  configurationFile,
  PerpgateProcess,
  temporaryFolder,
} from "../testing/perpgate-process.js";
import { createPrivateFile } from "../trader/private-file.js";
import { journalFolderOf } from "./folders.js";
import { messagesWith } from "./testing/mirrored-messages.js";

const TIMEOUT = 120_000;
const FIRST = ["--name", "first", "--port", "0"];
const USERS = `authorization {
  users = [
    { user: gateway, password: secret }
    { user: reader, password: secret, permissions: { publish: { deny: "*.log.*" } } }
  ]
}
no_auth_user: gateway`;

describe.skipIf(isWithoutNatsServer())("cluster commands", { timeout: TIMEOUT }, () => {
  let nats: NatsCluster;

  beforeAll(async () => {
    nats = await NatsCluster.start({ servers: 1, extra: USERS });
  }, TIMEOUT);
  afterAll(() => nats?.remove());

  const streams = () =>
    nats.withManager(async (manager) => {
      const names: string[] = [];
      for await (const name of manager.streams.names()) names.push(name);
      return names;
    });

  const config = (stream: string, more: object = {}, user = "gateway") => {
    const cores = ["first", "second"];
    const log = { servers: nats.urls(), stream, user, password: "secret", cores };
    return configurationFile({ ...more, log });
  };

  const cluster = (...words: string[]) =>
    new PerpgateProcess(["cluster", ...words, "--replicas", "1"]).ended;

  test.each([
    [{ band: 1 }, /^perpgate: .*band.*\n$/i],
    [{ band: 0.0500001 }, /^perpgate: .*0\.0500001.*\n$/],
  ])("init with the risk %o, which the engine refuses: one line, no stream", async (risk, line) => {
    const { code, stderr } = await cluster("init", "--config", config("refused", { risk }));
    expect(stderr).toMatch(line);
    expect(code).toBe(1);
    expect(await streams()).not.toContain("refused");
  });

  const reseed = (data: string, stream: string, ...more: string[]) =>
    cluster("reseed", "--data", data, "--config", config(stream), ...more);

  test("reseed of a folder without a log: one line, nothing is created", async () => {
    const root = temporaryFolder();
    const { code, stderr } = await reseed(join(root, "typo"), "none");
    expect(stderr).toMatch(/^perpgate: there is no log in .*typo.journal.*\n$/);
    expect(code).toBe(1);
    expect(readdirSync(root)).toEqual([]);
  });

  async function mirror(): Promise<{ data: string; directory: string; close(): Promise<void> }> {
    const data = temporaryFolder();
    const directory = journalFolderOf(data);
    const journal = await openJournal({ directory, segmentBytes: 1 << 20, commit: "inline" });
    await journal.append({ writer: "ab".repeat(16), counter: 1 }, [Buffer.from("a record")]);
    return { data, directory, close: () => journal.close() };
  }

  test("reseed while the gateway runs: one line that names its process", async () => {
    const { data, close } = await mirror();
    onTestFinished(close);
    const { code, stderr } = await reseed(data, "none");
    expect(stderr).toMatch(/^perpgate: the journal in .* is in use by process \d+; stop it.*\n$/);
    expect(code).toBe(1);
  });

  test("reseed from a damaged mirror: one line that names the file", async () => {
    const { data, directory, close } = await mirror();
    await close();
    const name = readdirSync(directory).find((each) => each.endsWith(".log")) ?? "";
    const bytes = readFileSync(join(directory, name));
    bytes.fill(0xff, 0, 64);
    writeFileSync(join(directory, name), bytes);
    const { code, stderr } = await reseed(data, "none");
    expect(stderr).toMatch(/^perpgate: .*\.log is damaged at offset .*\n$/);
    expect(code).toBe(1);
    expect(await streams()).not.toContain("none");
  });

  /** The gateway of the first core of a new venue, and the file of the second one's. */
  async function serve(stream: string, user?: string) {
    const root = temporaryFolder();
    const [data, logKey] = [join(root, "data"), join(root, "log.key")];
    createPrivateFile(logKey, newLogKey().secret);
    const settings = { receipts: { logKey }, metrics: { port: false } };
    const begun = await cluster("init", "--config", config(stream, settings));
    expect(begun, begun.stderr).toMatchObject({ code: 0 });
    const [ca, core] = [join(root, "ca"), join(root, "core")];
    newAuthorityFiles(ca, {});
    newCertificateFiles("either", core, { ca });
    const tls = { ca: `${ca}.pem`, cert: `${core}.pem`, key: `${core}.key` };
    const places = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`] as const;
    const fileOf = (listen: string, other: string) =>
      config(stream, { ...settings, link: { listen, cores: [other], tls } }, user);
    const args = [...FIRST, "--data", data, "--config", fileOf(...places)];
    return {
      gateway: new PerpgateProcess(args),
      data,
      secondFile: fileOf(places[1], places[0]),
    };
  }

  const command = (...words: string[]) => new PerpgateProcess(["cluster", ...words]).ended;

  async function ready(url: string): Promise<void> {
    await until(async () => (await fetch(`${url}/readyz`)).ok, { everyMs: 50 });
  }

  test("join, status and leave: a second core from a copy of the first", async () => {
    const { gateway, data, secondFile } = await serve("members");
    const first = await gateway.url();
    await ready(first);
    const copy = join(temporaryFolder(), "second");
    const words = ["join", "--from", data, "--data", copy];
    const joined = await command(...words, "--json");
    expect(joined, joined.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(joined.stdout)).toMatchObject({ folder: copy, fault: null });
    const again = await command(...words);
    expect(again).toMatchObject({ code: 1, stdout: "" });
    expect(again.stderr).toMatch(/^perpgate: .*second.*\n$/);
    // The copy has the log from the venue's beginning on.
    expect(messagesWith(copy, ['"Genesis"']).get('"Genesis"')).toMatchObject([{ sequence: 1 }]);

    const args = ["--name", "second", "--port", "0", "--data", copy, "--config", secondFile];
    const member = new PerpgateProcess(args);
    const second = await member.url();
    await ready(second);
    const urls = ["--url", first, "--url", second];
    const table = await command("status", ...urls);
    expect(table).toMatchObject({ code: 0, stderr: "" });
    const [titles, ...rows] = table.stdout.trimEnd().split("\n");
    expect(titles).toMatch(/^ *gateway +state +position +block +release *$/);
    for (const [at, url] of [first, second].entries()) {
      expect(rows[at]).toMatch(new RegExp(`^ *${url} +ready +\\d+ +\\d+ +\\d+\\.\\d+\\.\\d+`));
    }
    expect(rows.slice(2).map((row) => row.trim().split(/ +/).slice(0, 2))).toEqual([
      [""],
      ["core", "state"],
      ["first", "leads"],
      ["second", "standby"],
    ]);
    const trader = new ProcessClient(second);
    expect((await trader.signIn()).status).toBe(200);
    const order = { symbol: "BTCUSD", side: "long", type: "market", margin: 5, leverage: 2 };
    const placed = await trader.place({ ...order, nonce: 1 });
    expect(placed.status, JSON.stringify(placed.body)).toBe(200);
    const { orderId } = placed.body;
    const found = await trader.at(first).request("GET", `/v1/orders/${orderId}`);
    expect(found).toMatchObject({ status: 200, body: { orderId } });

    const left = await command("leave", "--data", copy);
    expect(left).toEqual({
      code: 0,
      signal: null,
      stdout: "the gateway drains its requests and leaves\n",
      stderr: "",
    });
    expect(await member.ended).toMatchObject({ code: 0 });
    const alone = await command("status", ...urls, "--json");
    expect(alone).toMatchObject({ code: 1, stderr: "" });
    expect(JSON.parse(alone.stdout).gateways).toMatchObject([
      { url: first, state: "ready", position: expect.stringMatching(/^\d+$/) },
      { url: second, state: expect.stringContaining("ECONNREFUSED"), position: "" },
    ]);
    const last = await command("leave", "--data", data, "--json");
    expect(last).toMatchObject({ code: 0, stdout: '{"leaves":true}\n', stderr: "" });
    expect(await gateway.ended).toMatchObject({ code: 0 });
  });

  test.each([
    ["none", undefined, "log.cores is missing: the names of the cores"],
    ["others", ["b", "c"], "the name of this core, first, is not in log.cores"],
  ])("cores of the configuration: %s: one line", async (_, cores, line) => {
    const data = join(temporaryFolder(), "data");
    const log = { servers: nats.urls(), stream: "none", ...(cores === undefined ? {} : { cores }) };
    const args = [...FIRST, "--data", data, "--config", configurationFile({ log })];
    const { code, stderr } = await new PerpgateProcess(args).ended;
    expect(stderr).toMatch(/^perpgate: .*\n$/);
    expect(stderr).toContain(line);
    expect(code).toBe(1);
  });

  // Both lines come after 10 s.
  test("a core without the right to publish says so; under another the stream is deleted: exit 1, one line with the reason", async () => {
    const [{ gateway: reader }, { gateway }] = [
      await serve("rights", "reader"),
      await serve("deleted"),
    ];
    const said = reader.printed(
      /no message of the log for 10 s: .*permissions violation for publish to .*rights\.log\.core/i,
      "stderr",
    );
    const url = await gateway.url();
    // With the slash that a browser adds.
    const asked = new PerpgateProcess(["cluster", "status", "--url", `${url}/`, "--json"]);
    const { stdout } = await asked.ended;
    expect(JSON.parse(stdout).gateways).toMatchObject([
      { url, position: expect.stringMatching(/^\d+$/) },
    ]);
    await nats.withManager((manager) => manager.streams.delete("deleted"));
    const { code, stderr } = await gateway.ended;
    expect(stderr).toMatch(
      /^perpgate: the venue stopped: stream deleted has been missing for 10 s; .*cluster reseed`$/m,
    );
    expect(code).toBe(1);
    await said;
  });

  test("reseed from a mirror that has lost its end, or may have: refused; else --max-bytes is the stream's limit", async () => {
    const stream = "limited";
    const { gateway, data } = await serve(stream);
    await gateway.url();
    gateway.signal("SIGTERM");
    expect(await gateway.ended).toMatchObject({ code: 0 });
    await nats.withManager((manager) => manager.streams.delete(stream));
    const checkpoints = join(data, "checkpoints.jsonl");
    const later = { position: 1e6, batch: 1e6, record: 1e6, block: 1e4 };
    const hashes = { stateHash: "00".repeat(32), blockHash: "00".repeat(32) };
    writeFileSync(checkpoints, `${JSON.stringify({ ...later, ...hashes })}\n`);
    const refused = await reseed(data, stream);
    expect(refused.stderr).toMatch(
      /^perpgate: the log in .* checkpoints\.jsonl shows position 1000000 .*; use the mirror of another gateway\n$/,
    );
    expect(refused.code).toBe(1);
    expect(await streams()).not.toContain(stream);
    rmSync(checkpoints);
    const history = join(data, "history");
    writeFileSync(join(history, "history.sqlite"), Buffer.alloc(20_000, 0xa5));
    const unsure = await reseed(data, stream);
    expect(unsure.stderr).toMatch(
      /^perpgate: the history is damaged, .*: .*file is not a database.*; use the mirror of another gateway, or move .*history away\n$/,
    );
    expect(unsure.code).toBe(1);
    expect(await streams()).not.toContain(stream);
    rmSync(history, { recursive: true });
    const ended = await reseed(data, stream, "--max-bytes", "100000000");
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    const { config: rebuilt } = await nats.withManager((manager) => manager.streams.info(stream));
    expect(rebuilt.max_bytes).toBe(100_000_000);
  });
});
