/**
 * Floods of withdrawals and of registrations on a venue that pays: the honest order's p99 under each of them, next
 * to that of a quiet run just before, and of one in which the same bytes go to a server that discards them: attacker
 * and venue share the machine. Attestors run elsewhere and are not part of it: a flood reaches them as rows.
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@perpgate/journal/testing";
import { voteText } from "@perpgate/protocol/core";
import { Child, raisePriority } from "../../harness/child.js";
import { BenchGateway, inFolder, withPeer } from "../../harness/gateway.js";
import { askOnce, type BenchAccount, type GatewayAddress, signInMany } from "../../harness/http.js";
import { alignedTable, Latencies, type LatencySummary, machine } from "../../harness/report.js";
import { signatureOf } from "../../harness/wire.js";
import type { Attack } from "../attack.js";
import type { Attacker } from "./attacker.js";
import { RestPath } from "./trading-path.js";

const VETERANS = 8;
const DOLLARS = 5_000;
/** The honest trader's operations: an order that rests and its cancel, in turn. */
const GAP_MS = 10;
const RESTING_PRICE = 40_000;
const WARM_UP_MS = 5_000;
/** What an attack leaves in flight. */
const REST_MS = 2_000;
const FIRST_ADDRESS = 20;
const MAX_RATIO = 1.5;
const MICROS = 1e6;

const VAULT = "11".repeat(20);
const CONTRACT = "22".repeat(20);
const CHAIN = {
  // No attestor runs here, so nothing asks it.
  rpc: ["http://127.0.0.1:9"],
  vault: `0x${VAULT}`,
  tokens: { USDC: { contract: `0x${CONTRACT}` } },
};
const TERMS = {
  minWithdrawal: 1,
  fee: 0.5,
  accountPerDay: 1_000_000,
  venuePerHour: 1_000_000,
  venuePerDay: 1_000_000,
  maxUnpaid: { ethereum: 1_000_000 },
};

export interface PayingRow {
  readonly attack: string;
  readonly quiet: LatencySummary;
  readonly attacked: LatencySummary;
  readonly discarded: LatencySummary;
  /** Of the p99, attacked to the higher one of the others. */
  readonly ratio: number;
  readonly answers: Readonly<Record<string, number>>;
  /** Of the honest trader. */
  readonly refused: readonly string[];
}

interface PayingOptions {
  readonly attacks: readonly Attack[];
  readonly milliseconds: number;
  readonly maxBytes: number;
  readonly onRow: (row: PayingRow) => void;
}

export function runPaying(options: PayingOptions): Promise<readonly PayingRow[]> {
  raisePriority();
  return inFolder("paying", async (folder) => {
    const port = await freePort();
    const keys = [generateKeyPairSync("ed25519"), generateKeyPairSync("ed25519")];
    const members = keys.map(({ publicKey }) => rawKeyOf(publicKey));
    const bridge = { members, quorum: 2, chains: { ethereum: CHAIN }, withdrawals: TERMS };
    const configuration = { auth: { domains: [`127.0.0.1:${port}`] }, bridge };
    const flags = ["--no-bots", "--log-level", "error", "--port", String(port)];
    const gateway = await BenchGateway.start({ folder, configuration, flags });
    try {
      const address = { port };
      const funded = await signInMany(address, VETERANS + 1);
      const attestors = keys.map(({ privateKey }) => privateKey);
      for (const [i, account] of funded.entries()) await credit(address, account, attestors, i);
      const [honest, ...veterans] = funded;
      const trader = new RestingTrader(address, honest!);
      await trader.during(sleep(WARM_UP_MS));
      return await withPeer(["discard"], async (discardPort) => {
        const rows: PayingRow[] = [];
        for (const [i, attack] of options.attacks.entries()) {
          const localAddress = `127.0.0.${FIRST_ADDRESS + i}`;
          const plan = { ...options, port, discardPort, localAddress, veterans };
          rows.push(await rowOf(attack, plan, trader));
          options.onRow(rows.at(-1)!);
          await sleep(REST_MS);
        }
        return rows;
      });
    } finally {
      await gateway.end("SIGKILL");
    }
  });
}

async function rowOf(
  { name }: Attack,
  plan: Pick<PayingOptions, "milliseconds" | "maxBytes"> & {
    readonly port: number;
    readonly discardPort: number;
    readonly localAddress: string;
    readonly veterans: readonly BenchAccount[];
  },
  trader: RestingTrader,
): Promise<PayingRow> {
  const { milliseconds, maxBytes, port, discardPort, localAddress, veterans } = plan;
  const attacker = Child.start<Attacker>(new URL("./attacker.js", import.meta.url));
  try {
    const bounds = { milliseconds, maxBytes };
    await attacker.call("prepare", { attack: name, port, localAddress, veterans, ...bounds });
    const quiet = await trader.during(sleep(milliseconds));
    const tally = attacker.call("attack");
    const attacked = await trader.during(tally);
    const { answers } = await tally;
    await sleep(REST_MS);
    const discarded = await trader.during(attacker.call("discard", discardPort));
    const refused = [quiet, attacked, discarded].flatMap((run) => run.refused);
    const other = Math.max(quiet.latencies.p99, discarded.latencies.p99);
    return {
      attack: name,
      quiet: quiet.latencies,
      attacked: attacked.latencies,
      discarded: discarded.latencies,
      ratio: attacked.latencies.p99 / other,
      answers,
      refused,
    };
  } finally {
    await attacker.stop();
  }
}

/** The honest trader: each operation is measured from the moment when it was due. */
class RestingTrader {
  private readonly path: RestPath;
  private readonly key: KeyObject;
  private readonly resting: string[] = [];
  private nonce = 0;

  constructor(address: GatewayAddress, { token, privateKeyPem }: BenchAccount) {
    this.path = new RestPath(address, token);
    this.key = createPrivateKey(privateKeyPem);
  }

  async during(work: Promise<unknown>) {
    const latencies = new Latencies();
    const refused: string[] = [];
    let isOver = false;
    void work.finally(() => {
      isOver = true;
    });
    const startedMs = performance.now();
    const sent: Promise<void>[] = [];
    for (let turn = 0; !isOver; turn++) {
      const dueMs = startedMs + turn * GAP_MS;
      await sleep(Math.max(0, dueMs - performance.now()));
      sent.push(
        this.operate(turn).then((status) => {
          latencies.record(performance.now() - dueMs);
          if (status !== "200") refused.push(status);
        }),
      );
    }
    await Promise.all(sent);
    return { latencies: latencies.summary(), refused };
  }

  private async operate(turn: number): Promise<string> {
    const orderId = turn % 2 === 1 ? this.resting.shift() : undefined;
    if (orderId !== undefined) return (await this.path.cancel(orderId)).status;
    const order = { symbol: "BTCUSD", side: "long", type: "limit", price: RESTING_PRICE };
    const body = JSON.stringify({ ...order, margin: 2, leverage: 5, nonce: ++this.nonce });
    const { status, orderId: placed } = await this.path.order(body, signatureOf(this.key, body));
    if (placed !== undefined) this.resting.push(placed);
    return status;
  }
}

/** A registered deposit with the votes of both attestors. */
async function credit(
  address: GatewayAddress,
  { token }: BenchAccount,
  attestors: readonly KeyObject[],
  number: number,
): Promise<void> {
  const read = async (path: string, options: Parameters<typeof askOnce>[2] = {}) =>
    Object(JSON.parse((await askOnce(address, path, options)).text));
  const { venueId } = await read("/v1/bridge");
  const { address: owner } = await read("/v1/account", { token });
  const txHash = number.toString(16).padStart(64, "0");
  const body = JSON.stringify({ chain: "ethereum", txHash: `0x${txHash}`, token: "USDC" });
  const { depositId } = await read("/v1/bridge/deposit", { token, body });
  const votes = attestors.map((key, attestor) => {
    const text = voteText({
      venue: venueId,
      attestor,
      depositId: Number(depositId),
      chain: "ethereum",
      chainId: 1,
      vault: VAULT,
      tokens: [{ token: "USDC", contract: CONTRACT }],
      txHash,
      verdict: "credit",
      confirmations: 64,
      required: 64,
      block: { number: 7, hash: "cd".repeat(32) },
      credits: [
        {
          logIndex: 0,
          token: "USDC",
          address: owner.slice(2).toLowerCase(),
          amountMicros: DOLLARS * MICROS,
        },
      ],
      reason: "",
      part: 1,
      parts: 1,
      votedAtMs: Date.now(),
    });
    return { text, signature: sign(null, Buffer.from(text, "latin1"), key).toString("hex") };
  });
  const { refusals } = await read("/v1/bridge/votes", { body: JSON.stringify({ votes }) });
  if (String(refusals) !== ",") throw new Error(`a deposit was not credited: ${refusals}`);
}

function rawKeyOf(publicKey: KeyObject): string {
  const { x = "" } = publicKey.export({ format: "jwk" });
  return Buffer.from(x, "base64url").toString("hex");
}

export function isPayingRowPassed({ ratio, refused }: PayingRow): boolean {
  return ratio < MAX_RATIO && refused.length === 0;
}

export function payingTable(rows: readonly PayingRow[]): string {
  const headings = ["attack", "quiet p50", "p99", "discarded p99", "attacked p50", "p99"];
  const cells = rows.map((row) => [
    row.attack,
    ...[row.quiet.p50, row.quiet.p99, row.discarded.p99, row.attacked.p50, row.attacked.p99].map(
      (ms) => ms.toFixed(2),
    ),
    `${row.ratio.toFixed(2)}×`,
    isPayingRowPassed(row) ? "PASS" : "FAIL",
  ]);
  return `a venue that pays, on ${machine()}\n\n${alignedTable([...headings, "ratio", "verdict"], cells)}`;
}

export function payingLine(row: PayingRow): string {
  const { attack, quiet, attacked, discarded, ratio, answers, refused } = row;
  const counts = Object.entries(answers).map(([kind, count]) => `${kind}: ${count}`);
  const [first] = refused;
  return (
    `${attack}: p99 quiet ${quiet.p99.toFixed(2)}, discarded ${discarded.p99.toFixed(2)}, ` +
    `attacked ${attacked.p99.toFixed(2)} ms (${ratio.toFixed(2)}×); ` +
    `answers ${counts.join(", ") || "none"}` +
    (first === undefined ? "" : `; ${refused.length} honest operations refused: ${first}`)
  );
}
