/**
 * The systemd units and the NATS configuration in `deploy`, checked by the programs that read them. Without
 * systemd-analyze the test is skipped with a warning; with REQUIRE_SYSTEMD=1, as in continuous
 * integration, it fails.
 */

import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  CertificateAuthority,
  isWithoutNatsServer,
  natsServerPath,
} from "@perpgate/cluster/testing";
import { expect, test } from "vitest";
import { MAIN, PerpgateProcess, temporaryFolder } from "../testing/perpgate-process.js";

const DEPLOY = new URL("../../../../deploy/", import.meta.url);
const UNITS = [
  ...["perpgate.service", "perpgate-gateway.service", "nats-server.service"],
  ...["perpgate-edge.service", "perpgate-attest.service", "perpgate-relay.service"],
  ...["perpgate-archive.service", "perpgate-publish.service", "perpgate-publish.timer"],
];

function textOf(path: string): string {
  return readFileSync(new URL(path, DEPLOY), "utf8");
}

function isWithoutSystemd(): boolean {
  if (spawnSync("systemd-analyze", ["--version"]).status === 0) return false;
  if (process.env.REQUIRE_SYSTEMD === "1") {
    throw new Error("REQUIRE_SYSTEMD is set, but systemd-analyze was not found");
  }
  console.warn("SKIPPED: the units of systemd need systemd-analyze, which was not found.");
  return true;
}

/** The command of a line such as ExecStart, as words. */
function commandOf(unit: string, key: string): readonly string[] {
  const [, line = ""] = new RegExp(`^${key}=-?(.*)$`, "m").exec(textOf(`systemd/${unit}`)) ?? [];
  return line.split(" ");
}

test.skipIf(isWithoutSystemd())("units: systemd-analyze verify finds nothing", () => {
  const folder = temporaryFolder();
  // Where the programs are on this machine; a server may be on none.
  const here = (text: string) =>
    text
      .replaceAll("/opt/perpgate/node_modules/.bin/node", process.execPath)
      .replaceAll("/usr/sbin/nats-server", process.execPath);
  const files = UNITS.map((unit) => {
    writeFileSync(join(folder, unit), here(textOf(`systemd/${unit}`)));
    return join(folder, unit);
  });
  const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", ...files], {
    encoding: "utf8",
  });
  // It warns of other units of the machine too.
  expect(stderr.split("\n").filter((line) => /perpgate|nats/.test(line))).toEqual([]);
  expect(status).toBe(0);
});

test.each([
  ...["perpgate-edge.service", "perpgate-attest.service", "perpgate-relay.service"],
  ...["perpgate-archive.service", "perpgate-publish.service"],
])("%s: its command and options are those of this release", async (unit) => {
  const words = commandOf(unit, "ExecStart");
  const program = words.findIndex((word) => word.endsWith("perpgate.js"));
  const run = new PerpgateProcess([...words.slice(program + 1), "--help"]);
  expect((await run.ended).code).toBe(0);
});

test("units of the gateway: the settings that doctor is asked about are those of the start", async () => {
  const folder = temporaryFolder();
  const settings = join(folder, "perpgate.json");
  writeFileSync(settings, "{}");
  const [single = [], cluster] = ["perpgate.service", "perpgate-gateway.service"].map((unit) => {
    const [, ...start] = commandOf(unit, "ExecStart");
    const [, ...check] = commandOf(unit, "ExecStartPre");
    const program = start.find((word) => word.endsWith("perpgate.js")) ?? "";
    expect(program.replace("/opt/perpgate/", "")).toBe("apps/perpgate/bin/perpgate.js");
    expect(start.slice(start.indexOf(program) + 2)).toEqual(
      check.slice(check.indexOf(program) + 2),
    );
    return check;
  });
  expect(cluster).toEqual(single);
  const args = single.slice(1).map((word) => {
    if (word === "/var/lib/perpgate") return join(folder, "data");
    return word === "/etc/perpgate/perpgate.json" ? settings : word;
  });
  const run = await new PerpgateProcess(args, {}, [process.execPath, MAIN]).ended;
  expect(run.stdout).toMatch(/^ok +settings +valid$/m);
});

test.skipIf(isWithoutNatsServer())("configuration of nats-server: the server takes it", () => {
  const folder = temporaryFolder();
  const file = join(folder, "nats-server.conf");
  copyFileSync(fileURLToPath(new URL("nats/nats-server.conf", DEPLOY)), file);
  const { status, stderr } = spawnSync(natsServerPath() ?? "", ["-t", "-c", file], {
    encoding: "utf8",
    env: { NATS_PASSWORD: "secret" },
  });
  expect(stderr).toContain("is valid");
  expect(status).toBe(0);
});

test.skipIf(isWithoutNatsServer())("configuration of nats-server: with its tls blocks too", () => {
  const folder = temporaryFolder();
  const authority = new CertificateAuthority();
  const { cert, key } = authority.issue(["10.0.0.1"]);
  const files = { "server.pem": cert, "server.key": key, "ca.pem": authority.cert };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const shipped = textOf("nats/nats-server.conf");
  const used = shipped.replaceAll(/^( *)#(tls \{| {2}\w|\})/gm, "$1$2");
  expect(used.match(/^ *tls \{(?:\n +\w+_file: .*){3}\n *\}$/gm)).toHaveLength(2);
  const file = join(folder, "nats-server.conf");
  writeFileSync(file, used.replaceAll("/etc/nats/", `${folder}/`));
  const run = () =>
    spawnSync(natsServerPath() ?? "", ["-t", "-c", file], {
      encoding: "utf8",
      env: { NATS_PASSWORD: "secret" },
    });
  expect(run().stderr).toContain("is valid");
  // It reads the files of the blocks.
  writeFileSync(join(folder, "ca.pem"), "");
  expect(run().status).not.toBe(0);
});

test("configuration of nats-server: fits the gateways' file in the operator's guide", () => {
  const server = textOf("nats/nats-server.conf");
  const guide = readFileSync(new URL("../docs/operating.md", DEPLOY), "utf8");
  const [, block = "{}"] = /```json\n(\{\n {2}"log":[^`]*)```/.exec(guide) ?? [];
  const { log } = JSON.parse(block);
  const routes = [...server.matchAll(/nats:\/\/([\d.]+):6222/g)].map(([, host]) => host);
  expect(log.servers).toEqual(routes.map((host) => `tls://${host}:4222`));
  expect(server).toContain('listen: "0.0.0.0:4222"');
  expect(server).toContain(`{ user: ${log.user}, password: `);
  expect(server).toContain(`http: "${new URL(log.monitors[0]).host}"`);
});
