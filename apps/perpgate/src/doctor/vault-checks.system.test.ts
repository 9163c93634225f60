/** What doctor says about the vaults of a venue that pays, on a real local chain. */

import { EvmNode, VaultChain } from "@perpgate/bridge/testing";
import { expect, onTestFinished, test } from "vitest";
import { newKeyFile } from "../serve/bridge/testing/chain-process.js";
import { DEFAULT_SETTINGS } from "../serve/settings.js";
import { checkVaults } from "./vault-checks.js";

test("a vault that pays, a cap below the terms, none there, another chain, a locked one", async () => {
  const node = await EvmNode.start(1, onTestFinished);
  const usdc = await node.token("USDC", 6);
  const chain = new VaultChain(node, usdc, `0x${"ab".repeat(32)}`);
  expect((await chain.deploy()).result).toBe("ok");
  const members = [newKeyFile(), newKeyFile()].map(({ publicKey }) => publicKey);
  const findings = (terms: object = {}, at: object = {}) =>
    checkVaults({
      ...DEFAULT_SETTINGS,
      bridge: {
        members,
        quorum: 2,
        chains: {
          ethereum: {
            rpc: [node.url],
            vault: chain.vault,
            tokens: { USDC: { contract: usdc } },
            ...at,
          },
        },
        withdrawals: {
          minWithdrawal: 10,
          fee: 1,
          accountPerDay: 100,
          venuePerHour: 100,
          venuePerDay: 1_000,
          lifeSeconds: 86_400,
          maxUnpaid: { ethereum: 1_000 },
          ...terms,
        },
      },
    });
  const check = "vault on ethereum";
  expect(await findings()).toMatchObject([
    { check, status: "ok", found: expect.stringContaining("perpgate relay --chain ethereum") },
  ]);
  expect(await findings({ venuePerHour: 100_000, venuePerDay: 100_000 })).toMatchObject([
    { check, status: "warning", advice: expect.stringContaining("lower venuePerHour") },
  ]);
  expect(await findings({}, { vault: `0x${"11".repeat(20)}` })).toMatchObject([
    { check, status: "problem", found: expect.stringContaining("is not a vault") },
  ]);
  expect(await findings({}, { rpc: ["http://127.0.0.1:9"] })).toMatchObject([
    { check, status: "problem" },
  ]);
  const other = await EvmNode.start(42_161, onTestFinished);
  expect((await findings({}, { rpc: [other.url] }))[0]).toMatchObject({ status: "problem" });
  expect((await chain.lock()).result).toBe("ok");
  expect(await findings()).toMatchObject([
    { check, status: "problem", found: "locked: nothing is paid" },
  ]);
  expect(await checkVaults(DEFAULT_SETTINGS)).toEqual([]);
});
