/** What a vault on Tron holds: a node there answers calls at its newest block alone. */

import { type Holdings, parseHoldings } from "@perpgate/protocol/core";
import { expect, onTestFinished, test } from "vitest";
import { EndpointPool } from "../chain/endpoint-pool.js";
import { privateKeyFromSeed, resolveBridge, tronAddressOf } from "../index.js";
import { TronNode } from "../testing/tron-node.js";
import { HoldingsReporter } from "./holdings-reporter.js";

const START_SECONDS = 1_750_000_000;
const VENUE = "ab".repeat(32);

async function reporting() {
  const nodes = [await TronNode.start(START_SECONDS), await TronNode.start(START_SECONDS)] as const;
  for (const node of nodes) onTestFinished(() => node.stop());
  const bridge = resolveBridge({
    venue: "test-venue",
    members: ["cd".repeat(32)],
    chains: {
      tron: {
        rpc: nodes.map(({ url }) => url),
        vault: tronAddressOf(Buffer.from("41".repeat(20), "hex")),
        tokens: { USDT: { contract: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t" } },
        minAgreeing: 2,
        timeoutMs: 60_000,
        graceMs: 60_000,
      },
    },
  });
  if (bridge.kind !== "chain") throw new Error("no chain");
  const chain = bridge.chains[0]!;
  const stated: (Holdings | undefined)[] = [];
  const parts = {
    attestor: { index: 0, privateKey: privateKeyFromSeed("a1".repeat(32)) },
    chain,
    port: {
      submitHoldings: async (statements: readonly { readonly text: string }[]) => {
        stated.push(...statements.map(({ text }) => parseHoldings(text)));
        return statements.map(() => null);
      },
    },
    clock: () => START_SECONDS * 1_000,
    uniform: () => 0.5,
    observe: () => undefined,
  };
  return { nodes, stated, reporter: new HoldingsReporter(parts, new EndpointPool(chain, parts)) };
}

test("endpoints with the same balances: stated at the oldest of their newest blocks", async () => {
  const { nodes, stated, reporter } = await reporting();
  for (const node of nodes) node.balance = 7_500_000n;
  nodes[1].mine();
  expect(await reporter.report(VENUE)).toBeNull();
  expect(stated).toMatchObject([
    { chain: "tron", token: "USDT", amount: 7_500_000n, block: { number: 0 } },
  ]);
});

test("endpoints with other balances: nothing is stated", async () => {
  const { nodes, stated, reporter } = await reporting();
  nodes[0].balance = 7_500_000n;
  expect(await reporter.report(VENUE)).toBe("endpoints differ on what the vault holds");
  expect(stated).toEqual([]);
});
