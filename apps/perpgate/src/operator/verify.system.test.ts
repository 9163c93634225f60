import { generateKeyPairSync, hash, sign } from "node:crypto";
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_MARKETS, stepOf, toSteps } from "@perpgate/protocol";
import {
  type Evidence,
  NO_EVIDENCE,
  newLogKey,
  TICK_MS,
  Venue,
  venueConfigOf,
  verify,
} from "@perpgate/venue";
import { orderCommand, signInCommand, signInMessage, TestVenue } from "@perpgate/venue/testing";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { commandHere } from "../testing/command-here.js";
import {
  codeWithoutReader,
  PerpgateProcess,
  temporaryFolder,
} from "../testing/perpgate-process.js";
import { verificationText } from "./verify.js";

const nothing = new Uint8Array(0);
const PRICE = 64_000.5;

/** A folder with one wallet, one session and one order, all really signed; `changes` falsifies. */
async function signedFolder(
  leverage: number,
  changes: { readonly walletSignature?: Uint8Array } = {},
): Promise<string> {
  const directory = join(temporaryFolder(), "data");
  const venue = await Venue.open({
    directory,
    config: venueConfigOf(DEFAULT_MARKETS),
    listing: DEFAULT_MARKETS,
    cohort: "open",
    checkpoints: null,
    segmentBytes: 1 << 20,
  });
  const stampMs = venue.nowMs();
  const submit = (command: Parameters<Venue["submit"]>[0], evidence: Evidence = NO_EVIDENCE) =>
    venue.submitted(command, evidence, (applied) => applied.seq);
  const slot = Math.floor(stampMs / TICK_MS);
  await submit({ kind: "UpdateIndex", stampMs, market: 0, indexTicks: 650_000, slot });
  const wallet = privateKeyToAccount(`0x${"11".repeat(32)}`);
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  const key = hash("sha256", raw, "hex");
  const { command } = signInCommand(1, "first", stampMs);
  const address = wallet.address.slice(2).toLowerCase();
  const message = signInMessage(address, command.siweNonce, [
    `urn:perpgate:session?key=${raw.toString("hex")}`,
  ]);
  const signature = await wallet.signMessage({ message });
  // Signed by no key of the address: a contract has confirmed it, on the chain of the message.
  const chain = changes.walletSignature === undefined ? {} : { contractChainId: 1 };
  const session = await submit(
    { ...command, address, key, ...chain },
    {
      signed: Buffer.from(message),
      signature: changes.walletSignature ?? Buffer.from(signature.slice(2), "hex"),
      publicKey: raw,
    },
  );
  const body = Buffer.from(
    JSON.stringify({
      symbol: "BTCUSD",
      side: "long",
      type: "limit",
      margin: 100,
      leverage: 10,
      price: PRICE,
      nonce: 1,
    }),
  );
  const order = orderCommand(session, 1, "long", toSteps(PRICE, stepOf(0.1)), 100);
  await submit(
    { ...order, stampMs, key, leverage },
    {
      signed: body,
      signature: sign(null, hash("sha256", body, "buffer"), privateKey),
      publicKey: nothing,
    },
  );
  await venue.close();
  return directory;
}

test("verify: an honest folder, exit 0, every signature counted", async () => {
  const data = await signedFolder(10);
  const ended = await new PerpgateProcess(["verify", "--data", data, "--signatures"]).ended;
  // Progress at most, which a slow machine gets to see.
  // Progress is for terminals.
  expect(ended.stderr).toBe("");
  expect(ended.stdout).toMatch(/^verified \d+ commands, \d+ blocks\n/);
  expect(ended.stdout).toMatch(/\n {2}signatures: 1 orders, 0 votes, 1 sign-ins\n$/);
  expect(ended.code).toBe(0);
});

test("verify: an order that was changed after it was signed, exit 1 and its position", async () => {
  const data = await signedFolder(20);
  const ended = await commandHere(["verify", "--data", data, "--signatures", "--json"]);
  expect(JSON.parse(ended.stdout)).toMatchObject({
    fault: { reason: "leverage: signed 10, logged 20" },
  });
  expect(ended.code).toBe(1);
});

test("verify: a sign-in that the wallet did not sign: its position, as not checked", async () => {
  const data = await signedFolder(10, { walletSignature: Buffer.alloc(65, 1) });
  const { stdout, code } = await commandHere(["verify", "--data", data, "--signatures"]);
  expect(stdout).toMatch(
    / not checked: 1 sign-ins signed by no key of the address, .* positions \d+\n/,
  );
  expect(code).toBe(0);
});

test("verify --key: the signature of the last checkpoint", async () => {
  const data = join(temporaryFolder(), "data");
  const { key } = newLogKey("venue.example/log");
  const driver = await TestVenue.open(data, { promises: { logKey: key, checkpointMs: 60_000 } });
  await driver.index();
  await driver.tick();
  await driver.tick();
  await driver.venue.promises?.log.advance();
  await driver.venue.close();
  const verified = (...more: string[]) => commandHere(["verify", "--data", data, ...more]);
  const { stdout } = await verified();
  expect(stdout).toMatch(
    /\n {2}last signed checkpoint: \d blocks, signature not checked \(--key\)\n/,
  );
  expect(await verified("--key", key.text)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/ last signed checkpoint: \d blocks, by the pinned key\n/),
  });
  const other = newLogKey("venue.example/log").key;
  expect(await verified("--key", other.text)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("the pinned key did not certify the key of gateway venue"),
  });
  expect(await verified("--key", "x")).toMatchObject({
    code: 1,
    stderr: "perpgate: --key: x is no verifier key of a log\n",
  });
  const kept = join(data, "..", "kept");
  copyFileSync(join(data, "log-checkpoint"), kept);
  rmSync(join(data, "log-checkpoint"));
  expect(await verified("--key", key.text)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("there is no signed checkpoint"),
  });
  expect(await verified("--key", key.text, "--checkpoint", kept)).toMatchObject({ code: 0 });
  expect(await verified("--checkpoint", join(data, "missing"))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--checkpoint: cannot read"),
  });
});

test("the report's text: repeated messages, and blocks that no checkpoint covers", async () => {
  const report = await verify(await signedFolder(10));
  const checkpoint = { size: 62, count: 2, isSignatureChecked: true, uncoveredBlocks: 3 };
  const pruned = {
    ...report,
    from: 40,
    repeatedMessages: [48, 50],
    receipts: { ...report.receipts, checkpoint },
  };
  const text = verificationText(pruned, { signatures: true, key: "x" });
  expect(text).toContain(
    "\n  last signed checkpoint: 62 blocks, by the pinned key, and 1 more" +
      "\n  signed by nobody: the last 3 blocks, after that checkpoint\n",
  );
  expect(text).toContain(
    "\n  repeated: 2 sign-ins use a message again, positions 48, 50; an honest venue accepts one " +
      "again only if a gateway's clock was behind the log's time: ask its operator",
  );
});

test("verify: a folder without a log, one line and exit 1", async () => {
  const data = temporaryFolder();
  const { code, stderr } = await commandHere(["verify", "--data", data]);
  expect(code).toBe(1);
  expect(stderr).toBe(`perpgate: there is no log in ${join(data, "journal")}\n`);
});

test.each([
  ["a difference", 20, 1],
  ["an honest folder", 10, 0],
])("verify to a reader that is gone: %s", async (_, leverage, code) => {
  const data = await signedFolder(leverage);
  expect(await codeWithoutReader(["verify", "--data", data, "--signatures"])).toBe(code);
});
