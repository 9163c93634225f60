/** A process with attestors on a real local chain. */

import { join } from "node:path";
import { newAttestorKey } from "@perpgate/bridge";
import type { EvmNode } from "@perpgate/bridge/testing";
import type { Address } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import {
  configurationFile,
  PerpgateProcess,
  temporaryFolder,
} from "../../../testing/perpgate-process.js";
import { createPrivateFile } from "../../../trader/private-file.js";

/** Of the local chain's funded accounts. */
const MNEMONIC = "test test test test test test test test test test test junk";

export function chainWallet(number: number) {
  return mnemonicToAccount(MNEMONIC, { addressIndex: number });
}

export interface ChainSetting {
  readonly rpc: string;
  readonly vault: Address;
  readonly usdc: Address;
}

/** Settings with short intervals; `bridge` overrides. */
export function chainSettings({ rpc, vault, usdc }: ChainSetting, bridge: object): object {
  return {
    logLevel: "warn",
    auth: { domains: ["localhost"] },
    limits: {
      readsPerSecond: 1e6,
      readsBurst: 1e6,
      depositsPerMinute: 1_000,
      addressDepositsPerMinute: 1_000,
    },
    bridge: {
      venue: "e2e",
      chains: {
        ethereum: {
          rpc: [rpc],
          vault,
          tokens: { USDC: { contract: usdc } },
          confirmations: 3,
          pollIntervalMs: 100,
          recheckIntervalMs: 200,
          timeoutMs: 5_000,
        },
      },
      ...bridge,
    },
  };
}

export function newKeyFile(): { path: string; publicKey: string } {
  const path = join(temporaryFolder(), "attestor.key");
  const { secret, publicKey } = newAttestorKey();
  createPrivateFile(path, `${secret}\n`);
  return { path, publicKey };
}

export async function startVenue(
  data: string,
  settings: object,
  environment: NodeJS.ProcessEnv = {},
): Promise<{ child: PerpgateProcess; url: string }> {
  const config = configurationFile(settings);
  const args = ["--port", "0", "--data", data, "--config", config];
  const child = new PerpgateProcess(args, environment);
  return { child, url: await child.url() };
}

/** Asks until the answer fits; the time-out of the test is the limit. */
export async function until<T>(ask: () => Promise<T>, fits: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (fits(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Sends dollars to the vault from an account of the chain. */
export function pay(node: EvmNode, chain: ChainSetting, from: number, dollars: number) {
  const units = BigInt(dollars) * 1_000_000n;
  return node.transfer(chain.usdc, node.account(from), chain.vault, units);
}
