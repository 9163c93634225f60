/** `perpgate cluster up` as a process: what it starts, and what it leaves. */

import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isWithoutNatsServer, natsServerPath } from "@perpgate/cluster/testing";
import { POLL } from "@perpgate/journal/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  configurationFile,
  MAIN,
  PerpgateProcess,
  temporaryFolder,
} from "../testing/perpgate-process.js";

const TIMEOUT = 180_000;

interface Given {
  readonly program?: string;
  readonly folder?: string;
  readonly hasBots?: boolean;
}

function up(settings: unknown, given: Given = {}): PerpgateProcess {
  return upWith(configurationFile(settings), given);
}

function upWith(config: string, given: Given = {}): PerpgateProcess {
  const { program = natsServerPath() ?? "", folder = join(temporaryFolder(), "cluster") } = given;
  // Three ports each, in a range that the system does not hand out.
  const port = 12_000 + 10 * Math.floor(Math.random() * 400);
  const words = ["cluster", "up", "--nats-server", program];
  if (given.hasBots !== true) words.push("--no-bots");
  words.push("--dir", folder, "--config", config);
  words.push("--port", String(port), "--nats-port", String(port + 5_000));
  // A group of its own, as a shell makes one.
  const environment = given.hasBots === true ? { PERPGATE_NO_BOTS: "false" } : {};
  return new PerpgateProcess(words, environment, ["setsid", process.execPath, MAIN]);
}

function logOf(folder: string, member: number): string {
  return readFileSync(join(folder, `gateway-${member}`, "gateway.log"), "utf8");
}

/** Also false for one that has ended and whose parent has not noticed. */
function isRunning(pid: number): boolean {
  try {
    return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

function endAtLast(pids: readonly number[]): void {
  onTestFinished(() => {
    for (const pid of pids.filter(isRunning)) process.kill(pid, "SIGKILL");
  });
}

describe.skipIf(isWithoutNatsServer())("cluster up", { timeout: TIMEOUT }, () => {
  test("with a wrong setting: exit 1, no nats-server left", async () => {
    const { code, stdout, stderr } = await up({ logLevel: "loud" }).ended;
    const started = [...stdout.matchAll(/started, process (\d+)/g)].map(([, pid]) => Number(pid));
    endAtLast(started);
    expect(started.filter(isRunning)).toEqual([]);
    expect(code).toBe(1);
    expect(stderr).toContain("logLevel");
  });

  test.each([
    [
      "missing",
      () => join(temporaryFolder(), "venue.json"),
      /^perpgate: cannot read .*ENOENT.*\n$/,
    ],
    ["no JSON", () => configurationFile('{"risk":'), /^perpgate: .*perpgate\.json: .*\n$/],
    ["no object", () => configurationFile("null"), /^perpgate: .*perpgate\.json: .*\n$/],
    [
      "refused by the engine",
      () => configurationFile({ risk: { band: 1 } }),
      /^perpgate: .*band.*\n$/i,
    ],
  ])(
    "with a configuration file that is %s: one line, nothing is started",
    async (_, file, line) => {
      const { code, stdout, stderr } = await upWith(file()).endedWithin(20_000);
      expect(stderr).toMatch(line);
      expect([code, stdout]).toEqual([1, ""]);
    },
  );

  test("Ctrl-C before the servers are reached: it ends, and the servers with it", async () => {
    const program = join(temporaryFolder(), "nats-server");
    writeFileSync(program, "#!/bin/sh\nexec sleep 600\n");
    chmodSync(program, 0o700);
    const cluster = up({}, { program });
    const servers = await Promise.all(
      [1, 2, 3].map(async (member) => {
        const [, pid] = await cluster.line(new RegExp(`nats-${member} +started, process (.+)`));
        return Number(pid);
      }),
    );
    endAtLast(servers);
    cluster.signal("SIGINT");
    expect(await cluster.endedWithin(20_000)).toMatchObject({ code: 0, stderr: "" });
    expect(servers.filter(isRunning)).toEqual([]);
  });

  test("one core leads, two stand by; bots at its gateway, after its end at another. Ctrl-C: servers end last", async () => {
    const folder = join(temporaryFolder(), "cluster");
    const bots = { levels: 2, actionsPerSecond: 10, tradesPerMinute: 6, gamblers: 0 };
    const cluster = up({ bots }, { folder, hasBots: true });
    const pidsOf = (kind: string) =>
      Promise.all(
        [1, 2, 3].map(async (member) => {
          const [, pid] = await cluster.line(
            new RegExp(`${kind}-${member} +started, process (.+)`),
          );
          return Number(pid);
        }),
      );
    const servers = await pidsOf("nats");
    endAtLast(servers);
    const gateways = await pidsOf("gateway");
    endAtLast(gateways);
    await Promise.all([1, 2, 3].map((member) => cluster.line(new RegExp(`-${member} .* ready`))));
    const [, url] = await cluster.line(/gateway-1 +(http:\S+) ready/);
    const coresNow = async () => {
      const status = await (await fetch(`${url}/v1/status`)).text();
      const seen: { readonly cluster: { readonly cores: readonly { readonly state: string }[] } } =
        JSON.parse(status);
      return seen.cluster.cores.map(({ state }) => state).toSorted();
    };
    await expect.poll(coresNow, POLL).toEqual(["leads", "standby", "standby"]);
    const tradingAt = () =>
      [1, 2, 3].filter((member) => logOf(folder, member).includes("bots trade"));
    await expect.poll(tradingAt, POLL).toHaveLength(1);
    const [first = 0] = tradingAt();
    process.kill(gateways[first - 1]!, "SIGKILL");
    await expect.poll(tradingAt, POLL).toHaveLength(2);
    const name = `gateway-${first}`;
    const [, again] = await cluster.line(
      new RegExp(`${name} +ended [^]*${name} +started, process (.+)`),
    );
    gateways[first - 1] = Number(again);
    endAtLast(gateways);
    // A terminal sends the signal to all processes of the group. The first cannot act on it yet.
    cluster.signal("SIGSTOP");
    process.kill(-cluster.pid, "SIGINT");
    await expect.poll(() => gateways.filter(isRunning), POLL).toEqual([]);
    expect(servers.filter(isRunning)).toEqual(servers);
    cluster.signal("SIGCONT");
    expect((await cluster.ended).code).toBe(0);
    expect(servers.filter(isRunning)).toEqual([]);
  });
});
