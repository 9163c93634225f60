/** `perpgate cluster up` as a process: what it starts, and what it leaves. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isWithoutNatsServer, natsServerPath } from "@perpgate/cluster/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  configurationFile,
  MAIN,
  PerpgateProcess,
  temporaryFolder,
} from "../testing/perpgate-process.js";

const TIMEOUT = 180_000;

function up(settings: unknown): PerpgateProcess {
  // Three ports each, in a range that the system does not hand out.
  const port = 12_000 + 10 * Math.floor(Math.random() * 400);
  const words = ["cluster", "up", "--no-bots", "--nats-server", natsServerPath() ?? ""];
  words.push("--dir", join(temporaryFolder(), "cluster"), "--config", configurationFile(settings));
  words.push("--port", String(port), "--nats-port", String(port + 5_000));
  // A group of its own, as a shell makes one.
  return new PerpgateProcess(words, {}, ["setsid", process.execPath, MAIN]);
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

  test("Ctrl-C: the servers run until the gateways have ended; nothing is left", async () => {
    const cluster = up({ logLevel: "error" });
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
    // A terminal sends the signal to all processes of the group. The first cannot act on it yet.
    cluster.signal("SIGSTOP");
    process.kill(-cluster.pid, "SIGINT");
    await expect.poll(() => gateways.filter(isRunning), { timeout: TIMEOUT }).toEqual([]);
    expect(servers.filter(isRunning)).toEqual(servers);
    cluster.signal("SIGCONT");
    expect((await cluster.ended).code).toBe(0);
    expect(servers.filter(isRunning)).toEqual([]);
  });
});
