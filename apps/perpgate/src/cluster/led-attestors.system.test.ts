/** Attestors of gateways whose cores lead by turns: a quorum of all, of which one core leads at a time. */

import { EvmNode } from "@perpgate/bridge/testing";
import { isWithoutNatsServer } from "@perpgate/cluster/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  chainSettings,
  chainWallet,
  newKeyFile,
  pay,
  until,
} from "../serve/bridge/testing/chain-process.js";
import { ProcessClient } from "../testing/client.js";
import { PerpgateProcess } from "../testing/perpgate-process.js";
import { RunningCluster } from "./testing/running-cluster.js";

describe.skipIf(isWithoutNatsServer())("attestors of cores that lead by turns", () => {
  test("votes of a machine whose core stands by count, whoever leads", async () => {
    const node = await EvmNode.start(1, onTestFinished);
    const usdc = await node.token("USDC", 6);
    await node.mint(usdc, node.account(1), 1_000_000_000n);
    const chain = { rpc: node.url, vault: node.account(9), usdc };
    const keys = [newKeyFile(), newKeyFile()];
    const members = keys.map(({ publicKey }) => publicKey);
    const bridge = (...keyFiles: readonly string[]) => ({
      ...chainSettings(chain, { members, quorum: 2, keyFiles }),
      edges: 1,
    });
    const cluster = await RunningCluster.start({
      cores: 2,
      gateways: 2,
      settings: bridge(),
      own: (member) => bridge(keys[member]?.path ?? ""),
    });
    const client = new ProcessClient(cluster.gateway(1).url, chainWallet(1));
    expect(await client.signIn()).toMatchObject({ status: 200 });
    const deposited = async (dollars: number, balance: number) => {
      const txHash = await pay(node, chain, 1, dollars);
      const body = { chain: "ethereum", txHash, token: "USDC" };
      const registered = await client.request("POST", "/v1/bridge/deposit", body);
      expect(registered).toMatchObject({ status: 202 });
      await node.mine(5);
      await until(
        () => client.request("GET", "/v1/account"),
        (answer) => answer.body.balance === balance,
      );
    };
    await deposited(50, 50);
    const { data } = cluster.gateway(0);
    const down = new PerpgateProcess(["cluster", "step-down", "--data", data]);
    expect(await down.ended).toMatchObject({ code: 0 });
    await deposited(30, 80);
    await cluster.stop();
  }, 180_000);
});
