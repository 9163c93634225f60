/** Signed commands whose answer does not come, and their repetition with the same nonce. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clockNonce } from "@perpgate/protocol/core";
import { beforeAll, expect, test } from "vitest";
import { SilentProxy } from "../testing/silent-proxy.js";
import { sharedGateway, TraderShell } from "../testing/trader-shell.js";

let url = "";

beforeAll(async () => {
  const gateway = await sharedGateway();
  ({ url } = gateway);
  return gateway.stop;
});

test.each([
  ["margin", ["margin", "BTCUSD", "add", "50"], /\/margin$/],
  ["amend", ["amend", "48213", "--price", "60000"], /\/amend$/],
] as const)(
  "Ctrl-C during %s: the message names what was sent and its nonce",
  async (_name, words, path) => {
    const proxy = await SilentProxy.start(url, path);
    const shell = new TraderShell(proxy.url);
    await shell.text("login", "--domain", new URL(url).host);
    const running = shell.start(...words);
    await proxy.arrived;
    running.signal("SIGINT");
    const { code, stdout, stderr } = await running.ended;
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(
      /^perpgate: stopped; sent: (margin|amend) .*; no answer arrived, .* with --nonce \d{15,16}\b/,
    );
    // Which lists orders that were placed one by one.
    expect(stderr).not.toContain("perpgate orders");
  },
);

test.each([
  ["buy", ["buy", "BTCUSD", "100", "--tp", "90000"], /\/orders$/, "orders --all --nonce \\d+"],
  ["cancel", ["cancel", "48213"], /\/cancel$/, "orders"],
] as const)(
  "Ctrl-C during %s: the command that asks works as printed",
  async (name, words, path, asking) => {
    const proxy = await SilentProxy.start(url, path);
    const shell = new TraderShell(url);
    const flags = ["--profile", "bot", "--url", proxy.url];
    await shell.text("login", "--domain", new URL(url).host, ...flags);
    const running = shell.start(...words, ...flags);
    await proxy.arrived;
    running.signal("SIGINT");
    const { code, stderr } = await running.ended;
    expect(code).toBe(1);
    const call = new RegExp(`; sent: ${name} .*; ask: perpgate (${asking} ${flags.join(" ")})`);
    const [, ask = ""] = call.exec(stderr) ?? [];
    expect(stderr).toMatch(call);
    expect(await shell.run(...ask.split(" "))).toMatchObject({ code: 0, stderr: "" });
  },
);

test("Ctrl-C before an order is sent: the message says so, also as JSON", async () => {
  const proxy = await SilentProxy.start(url, /\/markets$/);
  const shell = new TraderShell(proxy.url);
  await shell.text("login", "--domain", new URL(url).host);
  const running = shell.start("buy", "BTCUSD", "100", "--json");
  await proxy.arrived;
  running.signal("SIGINT");
  const { code, stdout, stderr } = await running.ended;
  expect([code, stdout]).toEqual([1, ""]);
  expect(JSON.parse(stderr).error.message).toBe("stopped; nothing was sent");
});

test("buy --expires-in repeated with --nonce: the first acknowledgement", async () => {
  const shell = await TraderShell.signedIn(url);
  const expiring = ["--expires-in", "1h"];
  const again = (words: readonly string[]) => shell.json(...words, "--nonce", shell.lastNonce());
  const buy = ["buy", "BTCUSD", "10", "--price", "60000", ...expiring];
  const { orderId } = Object(await shell.json(...buy));
  expect(await again(buy)).toMatchObject({ orderId, replayed: true });
  const amend = ["amend", orderId, "--price", "59000", ...expiring];
  await shell.json(...amend);
  expect(await again(amend)).toMatchObject({ replayed: true });
  const both = [...buy, "--sl", "50000"];
  await shell.json(...both);
  expect(await again(both)).toMatchObject({ replayed: true });
  expect(await shell.run(...buy, "--nonce", "7")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--expires-in counts from the time of the nonce"),
  });
});

test("buy repeated with --nonce after another login: refused, not placed twice", async () => {
  const shell = await TraderShell.signedIn(url);
  const buy = ["buy", "BTCUSD", "10", "--price", "60000"];
  const { orderId, nonce } = Object(await shell.json(...buy));
  await shell.text("login");
  const repeat = [...buy, "--nonce", String(nonce)];
  expect(await shell.run(...repeat)).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/is of another login.*perpgate orders --all/),
  });
  expect(await shell.json("orders")).toMatchObject([{ orderId }]);
  // Nonces of the new session, and numbers that are none of the clock, are accepted.
  const later = Object(await shell.json(...buy));
  expect(await shell.json(...buy, "--nonce", String(later.nonce))).toMatchObject({
    orderId: later.orderId,
    replayed: true,
  });
  expect(await shell.json(...buy, "--nonce", "7")).toMatchObject({ replayed: false });
});

test("--nonce after another login is judged by the ledgers, and by the clock where none has it", async () => {
  const shell = new TraderShell(url);
  const profile = join(shell.folder, "perpgate", "profiles", "default", "profile.json");
  await shell.text("login");
  const first = readFileSync(profile);
  await shell.text("login");
  const second = readFileSync(profile, "utf8");
  const buy = ["buy", "BTCUSD", "10", "--price", "60000"];
  const repeat = (nonce: number) => shell.run(...buy, "--json", "--nonce", String(nonce));
  const refused = { code: 1, stdout: "", stderr: expect.stringContaining("is of another login") };

  // A process that had read the first session before the second login.
  writeFileSync(profile, first);
  const { orderId, nonce } = Object(await shell.json(...buy));
  writeFileSync(profile, second);
  expect(await repeat(nonce)).toMatchObject(refused);
  expect(await repeat(clockNonce(Date.now() - 40 * 86_400_000))).toMatchObject(refused);
  expect(await shell.json("orders")).toMatchObject([{ orderId }]);

  // The clock was an hour ahead at the login.
  const loggedInAt = Date.now() + 3_600_000;
  writeFileSync(profile, JSON.stringify({ ...JSON.parse(second), loggedInAt }));
  const own = Object(await shell.json(...buy));
  const repeated = await repeat(own.nonce);
  expect(repeated).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(repeated.stdout)).toMatchObject({ orderId: own.orderId, replayed: true });
});
