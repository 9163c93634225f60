/** Deposits through real processes and a real local chain, from the hash to the first trade. */

import { join } from "node:path";
import {
  checkPublishedDeposit,
  privateKeyFromSeed,
  publicKeyHex,
  signVote,
} from "@perpgate/bridge";
import { EvmNode, RpcProxy } from "@perpgate/bridge/testing";
import { StreamClient } from "@perpgate/gateway/testing";
import type { AttestedDeposit, BridgeInfo } from "@perpgate/protocol";
import { voteText } from "@perpgate/protocol/core";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { ProcessClient } from "../../testing/client.js";
import { MetricsReading } from "../../testing/metrics-text.js";
import {
  configurationFile,
  PerpgateProcess,
  temporaryFolder,
} from "../../testing/perpgate-process.js";
import {
  type ChainSetting,
  chainSettings,
  chainWallet,
  newKeyFile,
  pay,
  startVenue,
  until,
} from "./testing/chain-process.js";

/** For slow process starts, and for the pause after a failed RPC. */
const PATIENCE_MS = 180_000;

const node = await EvmNode.start(1, afterAll);
const usdc = await node.token("USDC", 6);
for (const owner of [1, 2]) await node.mint(usdc, node.account(owner), 1_000_000_000n);
const chain: ChainSetting = { rpc: node.url, vault: node.account(9), usdc };

function depositor(url: string, number = 1): ProcessClient {
  return new ProcessClient(url, chainWallet(number));
}

async function register(client: ProcessClient, txHash: string) {
  return client.request("POST", "/v1/bridge/deposit", { chain: "ethereum", txHash, token: "USDC" });
}

async function read(client: ProcessClient, depositId: unknown): Promise<AttestedDeposit> {
  const headers = { authorization: `Bearer ${client.token}` };
  const answer = await fetch(`${client.url}/v1/bridge/deposits/${depositId}`, { headers });
  expect(answer.status).toBe(200);
  return JSON.parse(await answer.text());
}

async function balance(client: ProcessClient): Promise<unknown> {
  return (await client.request("GET", "/v1/account")).body.balance;
}

async function bridgeOf(url: string): Promise<BridgeInfo> {
  return JSON.parse(await (await fetch(`${url}/v1/bridge`)).text());
}

describe("one attestor, in the venue's process", () => {
  test(
    "concurrent registrations, a kill, an RPC that is down: credited once, and tradable",
    async () => {
      const proxy = await RpcProxy.start(node.url);
      onTestFinished(() => proxy.stop());
      const data = join(temporaryFolder(), "data");
      const key = newKeyFile();
      const settings = chainSettings({ ...chain, rpc: proxy.url }, { keyFiles: [key.path] });
      const before = await startVenue(data, settings);
      const client = depositor(before.url);
      expect((await client.signIn()).status).toBe(200);
      expect(await balance(client)).toBe(0);
      const stream = await StreamClient.connect(before.url, client.token);
      await stream.ask({ op: "subscribe", streams: ["deposits"] });

      const hash = await pay(node, chain, 1, 50);
      const digits = hash.slice(2);
      const spellings = [hash, digits, digits.toUpperCase(), `0X${digits}`, hash];
      const answers = await Promise.all(spellings.map((text) => register(client, text)));
      const [depositId, ...others] = new Set(answers.map(({ body }) => body.depositId));
      expect(answers.map(({ status }) => status)).toEqual(spellings.map(() => 202));
      expect(others).toEqual([]);
      const confirming = await stream.take(
        ({ t, d }) => t === "deposits" && JSON.stringify(d).includes('"confirming"'),
      );
      expect(confirming.d.deposits).toMatchObject([{ confirmations: 1, required: 3 }]);

      proxy.behaviour = "down";
      await node.mine(1);
      before.child.killAll();
      await before.child.ended;
      const after = await startVenue(data, settings);
      client.url = after.url;
      await node.mine(5);
      expect(await read(client, depositId)).toMatchObject({ status: "confirming" });
      proxy.behaviour = "honest";
      const credited = await until(
        () => read(client, depositId),
        ({ status }) => status === "credited",
      );
      expect(credited).toMatchObject({
        confirmations: 3,
        required: 3,
        credits: [{ account: client.wallet.address, amount: 50 }],
      });
      const { venueId, members, quorum } = await bridgeOf(after.url);
      expect(members).toEqual([key.publicKey]);
      const trusted = { venueId: venueId ?? "", members, quorum };
      expect(await checkPublishedDeposit(credited, trusted)).toBeNull();

      const stranger = new ProcessClient(after.url);
      await stranger.signIn();
      expect((await register(stranger, hash)).body).toMatchObject({
        depositId,
        status: "credited",
      });
      expect(await balance(stranger)).toBe(0);
      expect(await balance(client)).toBe(50);
      await until(
        () => client.request("GET", "/readyz"),
        ({ status }) => status === 200,
      );
      const order = {
        symbol: "BTCUSD",
        side: "long",
        type: "limit",
        margin: 20,
        leverage: 2,
        price: 60_000,
        nonce: 1,
      };
      expect((await client.place(order)).body).toMatchObject({ status: "resting" });

      after.child.signal("SIGTERM");
      expect((await after.child.ended).code).toBe(0);
      const verified = await new PerpgateProcess(["verify", "--data", data, "--signatures"]).ended;
      expect(verified.stdout).toMatch(/signatures: 1 orders, [2-9] votes, 2 sign-ins/);
      expect(verified.code).toBe(0);
    },
    PATIENCE_MS,
  );

  test(
    "an account that never signed in, and another's hash: the sender is credited",
    async () => {
      const { url } = await startVenue(
        join(temporaryFolder(), "data"),
        chainSettings(chain, { keyFiles: [newKeyFile().path] }),
      );
      const stranger = new ProcessClient(url);
      await stranger.signIn();
      const hash = await pay(node, chain, 2, 7);
      const { depositId } = (await register(stranger, hash)).body;
      await node.mine(3);
      await until(
        () => read(stranger, depositId),
        ({ status }) => status === "credited",
      );
      expect(await balance(stranger)).toBe(0);
      const sender = depositor(url, 2);
      await sender.signIn();
      expect(await balance(sender)).toBe(7);
    },
    PATIENCE_MS,
  );

  test(
    "a reorg before the credit: no confirmations, then credited once; a reorg after it: marked, counted, logged",
    async () => {
      const data = join(temporaryFolder(), "data");
      const { child, url } = await startVenue(
        data,
        chainSettings(chain, { keyFiles: [newKeyFile().path] }),
      );
      const client = depositor(url);
      await client.signIn();
      const fork = await node.snapshot();
      const hash = await pay(node, chain, 1, 25);
      const { depositId } = (await register(client, hash)).body;
      const shown = (fits: (deposit: AttestedDeposit) => boolean) =>
        until(() => read(client, depositId), fits);
      await shown(({ confirmations }) => confirmations === 1);
      await node.revert(fork);
      await node.mine(1);
      expect(await shown(({ confirmations }) => confirmations === 0)).toMatchObject({
        status: "confirming",
        credits: [],
      });
      const before = await node.snapshot();
      expect(await pay(node, chain, 1, 25)).toBe(hash);
      await node.mine(2);
      await shown(({ status }) => status === "credited");
      expect(await balance(client)).toBe(25);

      // The attestor must have rechecked it before the reorg.
      await until(
        async () => new MetricsReading(await (await fetch(`${url}/metrics`)).text()),
        (read) => read.value('perpgate_bridge_pending_deposits{chain="ethereum"}') === 0,
      );
      await node.revert(before);
      await node.letTimePass(120);
      await node.mine(5);
      expect(await shown(({ reorged }) => reorged !== null)).toMatchObject({
        status: "credited",
        reorged: "transaction_gone",
      });
      // Metrics are collected once a second.
      const metrics = await until(
        async () => new MetricsReading(await (await fetch(`${url}/metrics`)).text()),
        (read) => read.value("perpgate_deposits_reorged_total") === 1,
      );
      expect(metrics.value('perpgate_bridge_credited_reorgs_total{chain="ethereum"}')).toBe(1);
      const settle = ["bridge", "settle", String(depositId), "--data", data];
      expect((await new PerpgateProcess(settle).ended).stdout).toContain(
        `deposit ${depositId} settled, in the log`,
      );
      expect(await read(client, depositId)).toMatchObject({ reorgSettled: true });
      const again = await new PerpgateProcess(settle).ended;
      expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("settled before") });
      child.signal("SIGTERM");
      const { stderr } = await child.ended;
      expect(stderr.match(/ALARM/g)).toHaveLength(2);
    },
    PATIENCE_MS,
  );
});

describe("three attestors, two of whom must agree", () => {
  test(
    "one in the venue's process, one remote, one that lies",
    async () => {
      const seeds = ["a1", "b2", "c3"].map((byte) => byte.repeat(32));
      const members = seeds.map((seed) => publicKeyHex(privateKeyFromSeed(seed)));
      const settings = chainSettings(chain, { members, quorum: 2 });
      const { child, url } = await startVenue(join(temporaryFolder(), "data"), settings, {
        PERPGATE_ATTESTOR_KEY: seeds[0],
      });
      const client = depositor(url);
      await client.signIn();
      const txHash = await pay(node, chain, 1, 30);
      await node.mine(3);
      const { depositId } = (await register(client, txHash)).body;
      const seen = await until(
        () => read(client, depositId),
        ({ votes }) => votes.length === 1,
      );
      expect(seen).toMatchObject({ status: "queued", votes: [{ attestor: 0, verdict: "credit" }] });
      const { venueId } = await bridgeOf(url);
      const lie = {
        venue: venueId ?? "",
        attestor: 2,
        depositId: Number(depositId),
        chain: "ethereum",
        chainId: 1,
        vault: chain.vault.slice(2).toLowerCase(),
        tokens: [{ token: "USDC", contract: chain.usdc.slice(2).toLowerCase() }],
        txHash: txHash.slice(2),
        verdict: "credit",
        confirmations: 3,
        required: 3,
        block: null,
        credits: [{ logIndex: 0, token: "USDC", address: "66".repeat(20), amountMicros: 9e12 }],
        reason: "",
        part: 1,
        parts: 1,
        votedAtMs: Date.now(),
      } as const;
      const { signature } = await signVote(lie, privateKeyFromSeed(seeds[2]!));
      const votes = [{ text: voteText(lie), signature }];
      expect((await client.request("POST", "/v1/bridge/votes", { votes })).body).toEqual({
        refusals: [null],
      });
      expect(await read(client, depositId)).toMatchObject({ status: "confirming" });

      const config = configurationFile(settings);
      const attest = ["attest", "--venue", url, "--config", config, "--metrics-port", "0"];
      const attestor = new PerpgateProcess(attest, { PERPGATE_ATTESTOR_KEY: seeds[1] });
      const credited = await until(
        () => read(client, depositId),
        ({ status }) => status === "credited",
      );
      expect(credited.credits).toMatchObject([{ account: client.wallet.address, amount: 30 }]);
      expect(
        await checkPublishedDeposit(credited, { venueId: venueId ?? "", members, quorum: 2 }),
      ).toBeNull();
      expect(await balance(client)).toBe(30);
      attestor.signal("SIGTERM");
      const ended = await attestor.ended;
      expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining("attestor 1 (") });
      child.signal("SIGTERM");
      const { stdout, stderr } = await child.ended;
      for (const seed of seeds) {
        expect(stdout + stderr + ended.stdout + ended.stderr).not.toContain(seed);
      }
    },
    PATIENCE_MS,
  );
});
