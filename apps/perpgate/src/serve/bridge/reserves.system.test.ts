/** What the venue owes, committed to in its log, against what attestors state about its vaults. */

import { spawnSync } from "node:child_process";
import { sign } from "node:crypto";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { privateKeyFromSeed } from "@perpgate/bridge";
import { Trader } from "@perpgate/gateway/testing";
import { until } from "@perpgate/journal/testing";
import { Liability, Reserves } from "@perpgate/protocol";
import { type Holdings, hexFromBytes, holdingsText } from "@perpgate/protocol/core";
import {
  checkReservesProof,
  liabilityFault,
  liabilityFile,
  parseLeafProof,
} from "@perpgate/protocol/receipts";
import { newLogKey, succeed, successorsFile, verify, verifyEd25519Now } from "@perpgate/venue";
import { Registry } from "prom-client";
import { Value } from "typebox/value";
import { expect, test } from "vitest";
import { reservesFindings } from "../../doctor/vault-checks.js";
import { commandHere } from "../../testing/command-here.js";
import { temporaryFolder } from "../../testing/perpgate-process.js";
import { DEFAULT_SETTINGS } from "../settings.js";
import { BridgeControl } from "./bridge-control.js";
import { measureReserves } from "./bridge-metrics.js";
import { LOG_KEY, SEEDS, type WithdrawingVenue, withdrawing } from "./testing/attested-venue.js";

const EXAMPLE = fileURLToPath(
  new URL("../../../../../examples/check_reserves.py", import.meta.url),
);
const HOUR_MS = 3_600_000;
const CHECKPOINTS = { everyCommands: 100_000, everyMs: HOUR_MS, keep: 2 };
/** Two seconds before the hour. */
const BEFORE_MS = 500_000 * HOUR_MS - 2_000;

async function reservesOf({ trader }: WithdrawingVenue): Promise<Reserves> {
  const { text } = await trader.get("/v1/bridge/reserves");
  const value: unknown = JSON.parse(text);
  if (!Value.Check(Reserves, value)) throw new Error(text);
  return value;
}

async function liabilityOf(trader: Trader): Promise<Liability> {
  const { text } = await trader.get("/v1/account/liability");
  const value: unknown = JSON.parse(text);
  if (!Value.Check(Liability, value)) throw new Error(text);
  return value;
}

/** A venue that has passed the hour and committed to what it owes. */
async function committed() {
  const at = await withdrawing({}, undefined, 40, [], {
    startMs: BEFORE_MS,
    checkpoints: CHECKPOINTS,
  });
  const other = await Trader.enter(at.venue.at);
  const asked = await at.ask({ amount: 12.5, nonce: 1 });
  expect(asked.status).toBe(202);
  expect(await reservesOf(at)).toMatchObject({ liabilities: null, difference: null });
  await at.venue.at.advance(2_000);
  const { venue } = at.venue.at;
  await until(() => venue.listing.reserves !== null);
  await at.venue.at.advance(200);
  await venue.promises?.log.advance();
  return { ...at, other, withdrawalId: Number(asked.body.withdrawalId) };
}

function statement(at: WithdrawingVenue, attestor: number, changes: Partial<Holdings> = {}) {
  const { chain, chainId, vault, tokens } = at.venue.bridge.chains[0]!;
  const { contract, decimals } = tokens.USDC!;
  const text = holdingsText({
    venue: at.venue.venueId,
    attestor,
    chain,
    chainId,
    vault,
    token: "USDC",
    contract,
    decimals,
    amount: 60_000_000n,
    block: { number: 7, hash: "cd".repeat(32) },
    statedAtMs: at.venue.at.nowMs(),
    ...changes,
  });
  const key = privateKeyFromSeed(SEEDS[attestor]!);
  return { text, signature: hexFromBytes(sign(null, Buffer.from(text, "latin1"), key)) };
}

test("after each hour the venue commits to what it owes; each account finds itself in it", async () => {
  const at = await committed();
  const reserves = await reservesOf(at);
  // 40 dollars deposited, of which 12.5 and the fee wait to be paid, and they are still owed.
  expect(reserves).toMatchObject({
    liabilities: { sum: 40, leaves: 5 },
    pendingWithdrawals: 13,
    difference: null,
  });
  const checked = await checkReservesProof(reserves.liabilities?.proof ?? "", verifyEd25519Now, {
    logKey: LOG_KEY.text,
  });
  if (typeof checked === "string") throw new Error(checked);
  expect(`0x${checked.leaf.root}`).toBe(reserves.liabilities?.root);
  const own = await liabilityOf(at.trader);
  expect(own).toMatchObject({ address: `0x${at.address}`, balanceMicros: 40_000_000 });
  expect(liabilityFault(own, checked.leaf, `0x${at.address}`)).toBeNull();
  // One that owns nothing is counted, too.
  const empty = await liabilityOf(at.other);
  expect(empty.balanceMicros).toBe(0);
  expect(liabilityFault(empty, checked.leaf, at.other.wallet.address)).toBeNull();
  expect(liabilityFault(own, checked.leaf, at.other.wallet.address)).toContain("is that of");
  const [first] = own.path;
  if (first === undefined) throw new Error("no path");
  const rest = own.path.slice(1);
  for (const forged of [
    { ...own, balanceMicros: 39_999_999 },
    { ...own, salt: `0x${"00".repeat(16)}` },
    { ...own, path: [{ ...first, sumMicros: first.sumMicros + 1 }, ...rest] },
    {
      ...own,
      path: [{ ...first, side: first.side === "left" ? "right" : "left" } as const, ...rest],
    },
    { ...own, path: rest },
  ]) {
    expect(liabilityFault(forged, checked.leaf, `0x${at.address}`)).toContain("does not lead");
  }
  for (const sumMicros of [-1, 2 ** 53]) {
    const forged = { ...own, path: [{ ...first, sumMicros }, ...rest] };
    expect(liabilityFault(forged, checked.leaf, `0x${at.address}`)).toContain("below zero");
  }
});

test("examples/check_reserves.py, which shares no code with the project, finds each fault", async () => {
  const at = await committed();
  const reserves = await reservesOf(at);
  const liability = await liabilityOf(at.trader);
  const folder = temporaryFolder();
  const check = (owed: object, own: object, address = `0x${at.address}`, dollars = "40") => {
    const files = [
      ["reserves.json", owed],
      ["liability.json", own],
    ] as const;
    for (const [name, content] of files) writeFileSync(join(folder, name), JSON.stringify(content));
    const paths = files.map(([name]) => join(folder, name));
    const { stdout, stderr } = spawnSync("python3", [EXAMPLE, ...paths, address, dollars], {
      encoding: "utf8",
      timeout: 30_000,
    });
    return stdout.trim() + stderr;
  };
  expect(check(reserves, liability)).toBe("ok");
  const { path, balanceMicros } = liability;
  const [first, ...rest] = path;
  const step = (changes: object) => ({ ...liability, path: [{ ...first, ...changes }, ...rest] });
  const owed = reserves.liabilities;
  const hidden = { ...reserves, liabilities: { ...owed, sum: 39 } };
  const { code } = { code: "liability_not_found" };
  for (const [changed, fault] of [
    [{ ...liability, balanceMicros: balanceMicros + 1 }, "does not lead to the root"],
    [{ ...liability, balanceMicros: -1 }, "owes you"],
    [{ ...liability, balanceMicros: 39_000_000 }, "owes you 39.0 dollars"],
    [{ ...liability, salt: `0x${"00".repeat(16)}` }, "does not lead to the root"],
    [step({ sumMicros: -40_000_000 }), "not from 0 to 2^53"],
    [step({ sumMicros: 2 ** 53 }), "not from 0 to 2^53"],
    [step({ hash: `0x${"00".repeat(32)}` }), "does not lead to the root"],
    [{ code }, "left out"],
  ] as const) {
    expect(check(reserves, changed)).toContain(fault);
  }
  expect(check(hidden, liability)).toContain("does not add up");
  expect(check(reserves, await liabilityOf(at.other))).toContain("another account's");
  const proof = owed?.proof?.replace(/^extra .*$/m, (line) => {
    const extra = Buffer.from(line.slice(6), "base64").toString();
    const { leaf } = JSON.parse(extra);
    const forged = extra.replace(leaf, `${leaf.slice(0, 92)}01${leaf.slice(94)}`);
    return `extra ${Buffer.from(forged).toString("base64")}`;
  });
  const forged = { ...reserves, liabilities: { ...owed, proof } };
  expect(check(forged, liability)).toContain("another commitment");
});

test("a withdrawal's proof is none of reserves, and a changed leaf is in no block", async () => {
  const at = await committed();
  const proof = (await reservesOf(at)).liabilities?.proof ?? "";
  const format = "perpgate-reserves-proof/1";
  expect(parseLeafProof(proof, format)).toBeDefined();
  const lines = proof.split("\n");
  const extra = Buffer.from(lines[1]?.slice(6) ?? "", "base64").toString();
  const forged = (changed: string) =>
    [lines[0], `extra ${Buffer.from(changed).toString("base64")}`, ...lines.slice(2)].join("\n");
  const other = forged(extra.replace("reserves-proof", "withdrawal-proof"));
  expect(await checkReservesProof(other, verifyEd25519Now)).toContain("no proof of reserves");
  const { leaf } = JSON.parse(extra);
  const changed = forged(extra.replace(leaf, `${leaf.slice(0, 64)}ff${leaf.slice(66)}`));
  expect(await checkReservesProof(changed, verifyEd25519Now)).toContain("not in block");
});

test("what the vaults hold: what a quorum of attestors has stated; forged statements end the request", async () => {
  const at = await committed();
  const state = (votes: object[]) => at.venue.post("/v1/bridge/votes", JSON.stringify({ votes }));
  const usdc = async () => (await reservesOf(at)).vaults.find(({ token }) => token === "USDC");
  expect(await usdc()).toMatchObject({ holds: null, statements: [] });
  expect((await state([statement(at, 0)])).body).toEqual({ refusals: [null] });
  expect(await usdc()).toMatchObject({ holds: null, statements: [{ attestor: 0 }] });
  const second = statement(at, 1, { amount: 50_000_000n });
  expect((await state([second])).body).toEqual({ refusals: [null] });
  // Two of three: the second highest is what a quorum has seen at least.
  expect(await usdc()).toMatchObject({ holds: 50 });
  expect((await state([second])).body).toEqual({ refusals: ["vote_outdated"] });
  const nowMs = at.venue.at.nowMs();
  for (const [changes, refusal] of [
    [{ vault: "ff".repeat(20) }, "other_scope"],
    [{ decimals: 7 }, "other_scope"],
    [{ statedAtMs: nowMs + 120_000 }, "vote_from_future"],
    [{ statedAtMs: nowMs - 2 * HOUR_MS }, "vote_outdated"],
  ] as const) {
    expect((await state([statement(at, 2, changes)])).body).toEqual({ refusals: [refusal] });
  }
  const forged = { ...statement(at, 2), signature: "ab".repeat(64) };
  expect((await state([forged])).status).toBe(401);
  // The venue has two tokens, and difference needs both.
  expect((await reservesOf(at)).difference).toBeNull();
  const usdt = at.venue.bridge.chains[0]!.tokens.USDT!;
  const none = { token: "USDT", contract: usdt.contract, amount: 0n } as const;
  await state([statement(at, 0, none), statement(at, 1, none)]);
  expect((await reservesOf(at)).difference).toBe(10);
});

test("the vaults hold less than is owed: the metric and doctor say so, and a payment is no shortage", async () => {
  const at = await committed();
  const { venue } = at.venue.at;
  const { hostname: host, port } = new URL(at.venue.at.url);
  const doctor = () => reservesFindings({ ...DEFAULT_SETTINGS, host, port: Number(port) });
  expect(await doctor()).toMatchObject([{ status: "warning" }]);
  const usdt = at.venue.bridge.chains[0]!.tokens.USDT!;
  let later = 0;
  const hold = async (dollars: number) => {
    const statedAtMs = at.venue.at.nowMs() + ++later;
    const amount = BigInt(dollars * 1e6);
    const votes = [0, 1].flatMap((attestor) => [
      statement(at, attestor, { amount, statedAtMs }),
      statement(at, attestor, { token: "USDT", contract: usdt.contract, amount: 0n, statedAtMs }),
    ]);
    expect((await at.venue.post("/v1/bridge/votes", JSON.stringify({ votes }))).body).toEqual({
      refusals: [null, null, null, null],
    });
  };
  const registry = new Registry();
  measureReserves(registry, venue, { holdings: () => at.venue.intake.holdings() });
  const gauge = async (name: string) =>
    Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await registry.metrics())?.[1]);
  const measured = () => gauge("perpgate_reserves_difference_dollars");
  // Not known, and no figure that an alert could take for enough.
  expect([await measured(), await gauge("perpgate_reserves_unknown_vaults")]).toEqual([
    Number.NaN,
    2,
  ]);
  await hold(40);
  expect(await gauge("perpgate_reserves_unknown_vaults")).toBe(0);
  expect(await measured()).toBe(0);
  expect(await doctor()).toMatchObject([{ status: "ok" }]);
  // The 12.5 dollars that wait to be paid were owed at the commitment.
  await hold(27.5);
  expect(await measured()).toBe(-12.5);
  expect(await doctor()).toMatchObject([
    { status: "problem", found: "the vaults hold 12.5 dollars less than the venue owes" },
  ]);
  const txHash = "ef".repeat(32);
  for (const attestor of [0, 1]) {
    const seen = { attestor, withdrawalId: at.withdrawalId, verdict: "paid", txHash } as const;
    const stampMs = at.venue.at.nowMs();
    const vote = { ...seen, stampMs, votedAtMs: stampMs, vaultSignature: "" } as const;
    await at.venue.at.execute({ kind: "AttestWithdrawal", ...vote });
  }
  expect((await reservesOf(at)).difference).toBe(0);
  expect(await measured()).toBe(0);
  expect(await doctor()).toMatchObject([{ status: "ok" }]);
});

test("on request of the operator the venue commits again within the hour, and verify agrees", async () => {
  const at = await committed();
  const { venue } = at.venue.at;
  const { position: earlier = 0 } = venue.listing.reserves ?? {};
  const control = new BridgeControl(venue);
  const change = { action: "commit" } as const;
  expect(control.isChange(change)).toBe(true);
  await control.change(change);
  await until(() => (venue.listing.reserves?.position ?? 0) > earlier);
  await at.venue.at.advance(200);
  await venue.promises?.log.advance();
  const { liabilities } = await reservesOf(at);
  expect(liabilities).toMatchObject({ sum: 40, leaves: 5 });
  expect((await liabilityOf(at.trader)).position).toBe(liabilities?.position);
  expect(await verify(at.venue.at.directory)).toMatchObject({
    fault: null,
    reserves: { commitments: 2 },
  });
  // Like every command of the operator: ten a minute.
  for (let count = 1; count < 10; count++) await control.change(change);
  await expect(control.change(change)).rejects.toThrow("ten operator commands");
});

test("verify recomputes the sum; a restart has the commitment and its tree", async () => {
  const at = await committed();
  const before = await liabilityOf(at.trader);
  const { directory } = at.venue.at;
  expect(readdirSync(join(directory, "reserves"))).toHaveLength(1);
  expect(await verify(directory)).toMatchObject({
    fault: null,
    reserves: { commitments: 1, roots: 0 },
  });
  const { venue } = at.venue.at;
  const { position = 0, root = "" } = venue.listing.reserves ?? {};
  // A venue that hides 10 dollars of what it owes.
  const hidden = { position, root, sumMicros: 30_000_000, leaves: 5 } as const;
  await at.venue.at.execute({ kind: "CommitReserves", stampMs: venue.nowMs(), ...hidden });
  const { fault } = await verify(directory);
  expect(fault?.reason).toBe(
    `reserves: 30000000 micro-dollars committed, 40000000 owed after ${position}`,
  );
  // The replica that counts says so at once, and no leaf is shown for a root that is not the tree's.
  await until(() => venue.reserves?.differing === 1);
  expect(before.position).toBe(String(position));
});

test.each(["with the trees of before", "without them"])(
  "another log key, %s: earlier commitments are no alarm, and later ones are of the new key",
  async (trees) => {
    const at = await committed();
    const { directory } = at.venue.at;
    const { position: earlier = 0 } = at.venue.at.venue.listing.reserves ?? {};
    const next = newLogKey("venue.example/log-2");
    await succeed(successorsFile(directory), LOG_KEY, next.key);
    writeFileSync(join(directory, "log.key"), next.secret);
    if (trees === "without them") rmSync(join(directory, "reserves"), { recursive: true });
    // No snapshot was taken: the second replica counts again what was committed to under the first key.
    const restarted = await at.venue.restart({
      logKey: next.key,
      checkpoints: CHECKPOINTS,
      afterMs: HOUR_MS,
    });
    const { venue } = restarted.at;
    await restarted.at.advance(400);
    await until(() => (venue.listing.reserves?.position ?? 0) > earlier);
    await restarted.at.advance(200);
    await until(() => venue.reserves?.liability(1) !== undefined);
    expect(venue.reserves?.differing).toBe(0);
    await restarted.at.stop();
    expect(await verify(directory)).toMatchObject({
      fault: null,
      reserves: { commitments: 2, roots: 1 },
    });
  },
);

test("perpgate check: what a saved file proves; every forged one is refused", async () => {
  const at = await committed();
  const { liabilities } = await reservesOf(at);
  const text = liabilities?.proof ?? "";
  const own = await liabilityOf(at.trader);
  const other = await liabilityOf(at.other);
  const file = liabilityFile(text, own);
  const path = join(temporaryFolder(), "mine.reserves");
  const checked = async (content: unknown, ...options: readonly string[]) => {
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    const { code, stdout } = await commandHere(["check", path, "--json", ...options]);
    return { code, ...Object(JSON.parse(stdout)) };
  };
  const pinned = ["--key", LOG_KEY.text];
  const mine = [...pinned, "--address", `0x${at.address}`];
  expect(await checked(file, ...mine)).toMatchObject({
    code: 0,
    isProven: true,
    liability: { balanceMicros: 40_000_000 },
    reserves: { sumMicros: 40_000_000, leaves: 5 },
  });
  expect(await checked(text, ...pinned)).toMatchObject({
    code: 0,
    isProven: true,
    liability: null,
  });
  expect(await checked(file)).toMatchObject({ code: 0, isProven: false, isConsistent: true });
  const shown = await commandHere(["check", path, ...mine]);
  expect(shown.stdout).toContain(`40 dollars of 0x${at.address} are among`);
  const [first, ...rest] = own.path;
  if (first === undefined) throw new Error("no path");
  const leaf = (changes: object) => ({ ...file, liability: { ...own, ...changes } });
  const step = (changes: object) => leaf({ path: [{ ...first, ...changes }, ...rest] });
  const forged: readonly unknown[] = [
    leaf({ balanceMicros: 41_000_000 }),
    leaf({ balanceMicros: -1 }),
    leaf({ balanceMicros: "40000000" }),
    leaf({ balanceMicros: 40_000_000.5 }),
    leaf({ salt: `0x${"00".repeat(16)}` }),
    leaf({ salt: "0x" }),
    leaf({ address: at.other.wallet.address }),
    leaf({ position: String(Number(own.position) + 1) }),
    leaf({ path: rest }),
    leaf({ path: [first, ...own.path] }),
    leaf({ path: [...rest, first].reverse().concat(first) }),
    leaf({ path: "none" }),
    leaf({ more: 1 }),
    step({ sumMicros: first.sumMicros + 1 }),
    step({ sumMicros: -40_000_000 }),
    step({ sumMicros: 2 ** 53 }),
    step({ hash: `0x${"00".repeat(32)}` }),
    step({ hash: "0x00" }),
    step({ side: first.side === "left" ? "right" : "left" }),
    step({ side: "above" }),
    liabilityFile(text, other),
    { ...file, format: "perpgate-liability/2" },
    { ...file, more: 1 },
    { ...file, proof: "" },
    { ...file, proof: text.slice(0, -2) },
    { ...file, proof: text.replace(/^index (\d+)$/m, (_, entry) => `index ${Number(entry) + 1}`) },
    { ...file, proof: text.slice(0, text.indexOf("\n\n") + 2) },
    { ...file, liability: null },
    JSON.stringify(file).slice(0, -1),
    text,
    "",
  ];
  for (const content of forged) {
    const verdict = await checked(content, ...mine);
    expect(
      { code: verdict.code, isConsistent: verdict.isConsistent },
      JSON.stringify(content),
    ).toEqual({ code: 1, isConsistent: false });
  }
  const stranger = newLogKey("venue.example/log").key.text;
  expect(await checked(file, "--key", stranger)).toMatchObject({ code: 1, isConsistent: false });
});
