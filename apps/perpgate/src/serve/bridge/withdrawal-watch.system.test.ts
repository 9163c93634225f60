/**
 * Attestors of withdrawals on a real venue, over endpoints whose chain the test writes: the watch for thefts,
 * and endpoints that lie, fail or refuse wide searches.
 */

import { join } from "node:path";
import {
  type BridgeEvent,
  privateKeyFromSeed,
  RemoteVenue,
  RequestWatch,
  resolveBridge,
  SigningRecord,
  WithdrawalAttestor,
  type WithdrawalPort,
} from "@perpgate/bridge";
import { ATTESTORS, ScriptedChain, ScriptedVault } from "@perpgate/bridge/testing";
import type { OpenWithdrawal } from "@perpgate/protocol";
import { noteKeyText } from "@perpgate/protocol/receipts";
import { StubWitness } from "@perpgate/venue/testing";
import type { Address } from "viem";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../testing/perpgate-process.js";
import { LOG_KEY, MEMBERS, SEEDS, USDC, VAULT, withdrawing } from "./testing/attested-venue.js";

const START_MS = 1_800_000_000_000;
const TOKEN: Address = `0x${USDC.slice(2).toLowerCase()}`;
const VAULT_ADDRESS: Address = `0x${VAULT.slice(2)}`;
const [FIRST, SECOND, THIRD] = [0, 1, 2] as const;

type Between = (venue: WithdrawalPort) => WithdrawalPort;

/** A venue that lists other open withdrawals than its log has. */
const listing =
  (changed: (rows: readonly OpenWithdrawal[]) => readonly OpenWithdrawal[]): Between =>
  (venue) => ({
    terms: () => venue.terms(),
    submitOnWithdrawals: (votes) => venue.submitOnWithdrawals(votes),
    submitHoldings: (statements) => venue.submitHoldings(statements),
    openWithdrawals: async (chain, after) => {
      const { rows, next } = await venue.openWithdrawals(chain, after);
      return { rows: changed(rows), next };
    },
  });

class Scene {
  readonly events: BridgeEvent[] = [];
  /** What the attestors' clocks are ahead of the venue's. */
  aheadMs = 0;

  private constructor(
    readonly at: Awaited<ReturnType<typeof withdrawing>>,
    readonly chain: ScriptedChain,
    private readonly witness: StubWitness,
  ) {}

  static async start(): Promise<Scene> {
    const witness = await StubWitness.start("witness.example/w1");
    onTestFinished(() => witness.close());
    const setting = { url: witness.url, key: witness.key };
    const options = { startMs: START_MS };
    const at = await withdrawing({}, undefined, 400, [setting], options);
    const venueId = `0x${at.venue.venueId}` as const;
    const domain = { venueId, chainId: 1, vault: VAULT_ADDRESS };
    const addresses = ATTESTORS.map(({ address }) => address);
    return new Scene(at, new ScriptedChain(domain, addresses, START_MS), witness);
  }

  /** With three endpoints, two of which must agree. */
  async attestor(index: number, between: Between = (venue) => venue) {
    const nodes: ScriptedVault[] = [];
    for (let i = 0; i < 3; i++) {
      const node = await ScriptedVault.start(this.chain);
      onTestFinished(() => node.stop());
      nodes.push(node);
    }
    const bridge = resolveBridge({
      venue: "test-venue",
      members: MEMBERS,
      quorum: 2,
      chains: {
        ethereum: {
          rpc: nodes.map(({ url }) => url),
          vault: VAULT,
          tokens: {
            USDC: { contract: USDC },
            USDT: { contract: "0xdAC17F958D2ee523a2206206994597C13D831ec7" },
          },
          maxHeadAgeMs: 86_400_000,
          timeoutMs: 60_000,
          graceMs: 60_000,
        },
      },
    });
    if (bridge.kind !== "chain") throw new Error("no chain");
    const record = new SigningRecord(join(temporaryFolder(), "signed.jsonl"));
    onTestFinished(() => record.close());
    const privateKey = privateKeyFromSeed(SEEDS[index]!);
    const clock = () => this.at.venue.at.nowMs() + this.aheadMs;
    const keys = new Map([[index, privateKey]]);
    const urls = [this.at.venue.at.url];
    const venue = new RemoteVenue({ urls, keys, clock, timeoutMs: 60_000 });
    const proofKeys = { logKey: LOG_KEY.text, witnessKeys: [noteKeyText(this.witness.key)] };
    const parts = {
      attestor: { index, privateKey },
      chain: bridge.chains[0]!,
      port: between(venue),
      signing: { account: ATTESTORS[index]!, record, proofKeys },
      clock,
      uniform: () => 0.5,
      observe: (event: BridgeEvent) => this.events.push(event),
    };
    const [attestor, watch] = [new WithdrawalAttestor(parts), new RequestWatch(parts)];
    const searches = () => nodes.reduce((sum, node) => sum + node.count("eth_getLogs"), 0);
    return { attestor, watch, nodes, searches };
  }

  /** Asks for 100 dollars, under a checkpoint. */
  async ask(): Promise<number> {
    const { status, body, text } = await this.at.ask({ amount: 100, nonce: 1 });
    if (status !== 202) throw new Error(text);
    await this.at.venue.at.advance(200);
    await this.at.venue.at.venue.promises?.log.advance();
    return Number(body.withdrawalId);
  }

  read(id: number) {
    return this.at.trader.get(`/v1/bridge/withdrawals/${id}`).then(({ body }) => body);
  }

  /** What the vault is asked for if all are honest. */
  payment(id: number) {
    const { withdrawal } = this.at.venue.at.venue.views.openWithdrawal(id)!;
    const account: Address = `0x${this.at.address}`;
    const deadline = BigInt(withdrawal.deadlineMs / 1_000);
    return { token: TOKEN, account, amount: 100_000_000n, id: BigInt(id), deadline };
  }

  get alarms(): string[] {
    return this.failures(true);
  }

  failures(isAlarm = false): string[] {
    return this.events.flatMap((event) =>
      event.kind === "WithdrawalFailed" && event.isAlarm === isAlarm ? [event.reason] : [],
    );
  }
}

const down: Between = (venue) => ({
  ...listing((rows) => rows)(venue),
  openWithdrawals: () => Promise.reject(new Error("the venue is down")),
});

describe("the watch", () => {
  test("an honest request: no alarm for who signed it, nor for who reads the proof, nor with the venue down", async () => {
    const scene = await Scene.start();
    const id = await scene.ask();
    const [first, third] = [await scene.attestor(FIRST), await scene.attestor(THIRD)];
    await first.attestor.poll();
    const alone = await scene.attestor(SECOND, down);
    scene.chain.request(scene.payment(id));
    for (const { watch } of [first, third]) for (let i = 0; i < 2; i++) await watch.poll();
    await alone.watch.poll();
    scene.aheadMs = 61_000;
    for (const { watch } of [first, third]) await watch.poll();
    expect(scene.alarms).toEqual([]);
    // It has neither signed it nor reads a proof: it cannot know.
    await alone.watch.poll();
    expect(scene.alarms).toEqual([
      `the vault has request ${id}, and the venue proves no such withdrawal`,
    ]);
  });

  test("a venue that lists the thief's id without a proof, or is down: an alarm after a minute, and no vote", async () => {
    const scene = await Scene.start();
    const id = await scene.ask();
    const stolen = { ...scene.payment(id), id: 77_777n, amount: 300_000_000n };
    const forged = listing(([row]) => [
      { ...row!, withdrawalId: "77777", amount: 300, proof: null },
    ]);
    const [told, deaf] = [await scene.attestor(FIRST, forged), await scene.attestor(SECOND, down)];
    scene.chain.request(stolen);
    for (const { watch } of [told, deaf]) await watch.poll();
    expect(scene.alarms).toEqual([]);
    scene.aheadMs = 61_000;
    await told.watch.poll();
    await deaf.watch.poll();
    await told.watch.poll();
    const alarm = "the vault has request 77777, and the venue proves no such withdrawal";
    expect(scene.alarms).toEqual([alarm, alarm]);
    await told.attestor.poll();
    expect(scene.events.filter(({ kind }) => kind === "WithdrawalVoted")).toEqual([]);
  });

  test("a proof of another payment is none: an alarm at once", async () => {
    const scene = await Scene.start();
    const id = await scene.ask();
    const forged = listing((rows) => rows.map((row) => ({ ...row, amount: 300 })));
    const one = await scene.attestor(FIRST, forged);
    scene.chain.request({ ...scene.payment(id), amount: 300_000_000n });
    await one.watch.poll();
    expect(scene.alarms).toEqual([
      `the vault has request ${id}, which no open withdrawal of the log is`,
    ]);
  });

  test("one endpoint of three that lies neither raises an alarm nor prevents one", async () => {
    const scene = await Scene.start();
    const id = await scene.ask();
    const one = await scene.attestor(FIRST);
    await one.attestor.poll();
    scene.chain.request(scene.payment(id));
    one.nodes[0]!.lies.set(BigInt(id), { amount: 300_000_000n });
    await one.watch.poll();
    expect(scene.alarms).toEqual([]);
    const stolen = { ...scene.payment(id), id: 77_777n };
    scene.chain.request(stolen);
    one.nodes[0]!.lies.set(77_777n, { status: 2 });
    await one.watch.poll();
    expect(scene.alarms).toEqual([
      "the vault has request 77777, which no open withdrawal of the log is",
    ]);
  });
});

test("a lock and proposals of the vault: each reported once, and not by one endpoint alone", async () => {
  const scene = await Scene.start();
  const one = await scene.attestor(FIRST);
  await one.watch.poll();
  scene.chain.act("Locked");
  scene.chain.act("AttestorsProposed");
  for (const node of one.nodes.slice(1)) node.maxBlocks = 0;
  await expect(one.watch.poll()).rejects.toThrow("1 endpoints answered");
  const two = await scene.attestor(SECOND);
  for (let i = 0; i < 2; i++) await two.watch.poll();
  const changes = scene.events.filter((event) => event.kind === "VaultChanges");
  expect(changes).toMatchObject([{ action: "Locked" }, { action: "AttestorsProposed" }]);
  expect(scene.alarms).toEqual([]);
});

describe("what an attestor says it sees", () => {
  test("one endpoint of three with another payment: no alarm and no vote; two of three: an alarm", async () => {
    const scene = await Scene.start();
    const id = await scene.ask();
    const one = await scene.attestor(FIRST);
    await one.attestor.poll();
    scene.chain.request(scene.payment(id));
    one.nodes[1]!.lies.set(BigInt(id), { amount: 300_000_000n });
    await one.attestor.poll();
    expect([scene.alarms, scene.failures()]).toEqual([
      [],
      [`one endpoint has another payment as ${id}, and others not`],
    ]);
    one.nodes[2]!.lies.set(BigInt(id), { amount: 300_000_000n });
    await one.attestor.poll();
    expect(scene.alarms).toEqual([`the vault has another payment as ${id}`]);
    expect((await scene.read(id)).votes).toMatchObject([{ verdict: "signed" }]);
  });

  test("one endpoint that searches no logs: the others' sighting counts, and the signature does not wait", async () => {
    const scene = await Scene.start();
    const id = await scene.ask();
    const one = await scene.attestor(FIRST);
    await one.attestor.poll();
    one.nodes[0]!.maxBlocks = 0;
    scene.chain.request(scene.payment(id));
    await one.attestor.poll();
    expect((await scene.read(id)).votes).toMatchObject([
      { verdict: "signed" },
      { verdict: "pending" },
    ]);
    one.nodes[1]!.maxBlocks = 0;
    scene.chain.pay(BigInt(id));
    scene.chain.mine(10);
    await one.attestor.poll();
    expect(scene.failures().at(-1)).toContain("1 endpoints show the events, and 2 must");
    expect(scene.alarms).toEqual([]);
  });

  test("endpoints that search a hundred blocks at a time: the payment is found, and who watches is not stopped", async () => {
    const scene = await Scene.start();
    const id = await scene.ask();
    const attestors = [await scene.attestor(FIRST), await scene.attestor(SECOND)];
    for (const { nodes } of attestors) for (const node of nodes) node.maxBlocks = 100;
    for (const { attestor } of attestors) await attestor.poll();
    scene.chain.request(scene.payment(id));
    scene.chain.pay(BigInt(id));
    scene.chain.mine(500);
    scene.aheadMs = 500;
    for (const { attestor, watch } of attestors) {
      await attestor.poll();
      await watch.poll();
    }
    expect((await scene.read(id)).status).toBe("paid");
  });

  test("nothing new: no event is searched for again, whether requested, paid, or not final yet", async () => {
    const scene = await Scene.start();
    const id = await scene.ask();
    const one = await scene.attestor(FIRST);
    await one.attestor.poll();
    const searched = async (): Promise<number> => {
      const before = one.searches();
      await one.attestor.poll();
      return one.searches() - before;
    };
    scene.chain.request(scene.payment(id));
    // Each of three endpoints finds the request, then has nothing to search for.
    expect([await searched(), await searched(), await searched()]).toEqual([3, 0, 0]);
    scene.chain.pay(BigInt(id));
    expect([await searched(), await searched()]).toEqual([3, 0]);
    scene.chain.mine(10);
    // A later vote has a later time.
    scene.aheadMs = 500;
    expect([await searched(), await searched()]).toEqual([0, 0]);
    expect((await scene.read(id)).votes).toMatchObject([
      { verdict: "signed" },
      { verdict: "paid" },
    ]);
  });
});
