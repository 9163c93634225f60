/**
 * `perpgate cluster init` and `reseed`, and a gateway, as processes with one real server: what they
 * refuse, and how they say it.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isWithoutNatsServer, NatsCluster } from "@perpgate/cluster/testing";
import { openJournal } from "@perpgate/journal";
import { newLogKey } from "@perpgate/venue";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  configurationFile,
  PerpgateProcess,
  temporaryFolder,
} from "../testing/perpgate-process.js";
import { createPrivateFile } from "../trader/private-file.js";
import { journalFolderOf } from "./folders.js";

const TIMEOUT = 120_000;
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
    const log = { servers: nats.urls(), stream, user, password: "secret" };
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

  /** A gateway of a new venue. */
  async function serve(stream: string, user?: string) {
    const root = temporaryFolder();
    const [data, logKey] = [join(root, "data"), join(root, "log.key")];
    createPrivateFile(logKey, newLogKey().secret);
    const settings = { receipts: { logKey } };
    const begun = await cluster("init", "--config", config(stream, settings));
    expect(begun, begun.stderr).toMatchObject({ code: 0 });
    const file = config(stream, settings, user);
    return {
      gateway: new PerpgateProcess(["--port", "0", "--data", data, "--config", file]),
      data,
    };
  }

  test("a gateway without the right to publish: it says so while it joins", async () => {
    const { gateway } = await serve("rights", "reader");
    await gateway.printed(
      /has waited for the log for 10 s: .*permissions violation for publish to .*rights\.log\./i,
      "stderr",
    );
  });

  test("the stream is deleted under a gateway: exit 1, one line with the reason", async () => {
    const { gateway } = await serve("deleted");
    await gateway.url();
    await nats.withManager((manager) => manager.streams.delete("deleted"));
    const { code, stderr } = await gateway.ended;
    expect(stderr).toMatch(
      /^perpgate: the venue stopped: stream deleted has been missing for 10 s; .*cluster reseed`\n$/m,
    );
    expect(code).toBe(1);
  });

  test("reseed --max-bytes: the rebuilt stream has the limit", async () => {
    const stream = "limited";
    const { gateway, data } = await serve(stream);
    await gateway.url();
    gateway.signal("SIGTERM");
    expect(await gateway.ended).toMatchObject({ code: 0 });
    await nats.withManager((manager) => manager.streams.delete(stream));
    const ended = await reseed(data, stream, "--max-bytes", "100000000");
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    const { config: rebuilt } = await nats.withManager((manager) => manager.streams.info(stream));
    expect(rebuilt.max_bytes).toBe(100_000_000);
  });
});
