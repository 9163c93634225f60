import { generateKeyPairSync, hash, sign } from "node:crypto";
import { join } from "node:path";
import { DEFAULT_MARKETS, stepOf, toSteps } from "@perpgate/protocol";
import { type Evidence, NO_EVIDENCE, TICK_MS, Venue, venueConfigOf } from "@perpgate/venue";
import { orderCommand, signInCommand } from "@perpgate/venue/testing";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { commandHere } from "../testing/command-here.js";
import {
  codeWithoutReader,
  PerpgateProcess,
  temporaryFolder,
} from "../testing/perpgate-process.js";

const nothing = new Uint8Array(0);
const PRICE = 64_000.5;

/** A folder with one wallet, one session and one order, all really signed. */
async function signedFolder(leverage: number): Promise<string> {
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
  const message = [
    "localhost:8080 wants you to sign in with your Ethereum account:",
    wallet.address,
    "",
    "URI: http://localhost:8080",
    "Resources:",
    `- urn:perpgate:session?key=${raw.toString("hex")}`,
  ].join("\n");
  const signature = await wallet.signMessage({ message });
  const session = await submit(
    {
      ...signInCommand(1, "first", stampMs).command,
      address: wallet.address.slice(2).toLowerCase(),
      key,
    },
    {
      signed: Buffer.from(message),
      signature: Buffer.from(signature.slice(2), "hex"),
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
  expect(ended.stderr).toMatch(/^(?:\d+ %, position \d+\n)*$/);
  expect(ended.stdout).toMatch(/^verified \d+ commands, \d+ blocks\n/);
  expect(ended.stdout).toContain("1 orders, 0 votes, 1 sign-ins, 0 of them by contract wallets");
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
