/**
 * Contract wallets: asks a chain whether a contract vouches for a signature (EIP-1271), also one
 * that is not deployed yet (EIP-6492).
 *
 * Each configured chain has one RPC address. An RPC that answers for another chain would let a
 * contract of that chain sign in, so its chain id is compared before it is believed. An RPC that
 * does not answer is our failure and not the client's: the sign-in is refused as `not_ready`.
 */

import { Refusal } from "@perpgate/protocol";
import { createPublicClient, type Hex, http, type PublicClient } from "viem";
import type { SiweMessage } from "./siwe-message.js";

export interface ContractWallets {
  serves(chainId: number): boolean;
  isSignedByContract(message: SiweMessage, hash: Hex, signature: Hex): Promise<boolean>;
}

const RPC_TIMEOUT_MS = 5_000;

interface Chain {
  readonly client: PublicClient;
  isProven: boolean;
}

export class RpcContractWallets implements ContractWallets {
  private readonly chains = new Map<number, Chain>();

  /** Chain id → RPC address. */
  constructor(rpcAddresses: ReadonlyMap<number, string>, timeoutMs = RPC_TIMEOUT_MS) {
    for (const [chainId, url] of rpcAddresses) {
      const transport = http(url, { timeout: timeoutMs, retryCount: 0 });
      this.chains.set(chainId, { client: createPublicClient({ transport }), isProven: false });
    }
  }

  serves(chainId: number): boolean {
    return this.chains.has(chainId);
  }

  async isSignedByContract(
    { address, chainId }: SiweMessage,
    hash: Hex,
    signature: Hex,
  ): Promise<boolean> {
    const chain = this.chains.get(chainId);
    if (chain === undefined) return false;
    if (!chain.isProven) {
      await this.askChainId(chainId, chain);
      chain.isProven = true;
    }
    try {
      if (await chain.client.verifyHash({ address, hash, signature })) return true;
    } catch {
      // Told apart below, as the library's own "false" must be.
    }
    // The library also says no where the call did not arrive; a chain that still answers meant it.
    await this.askChainId(chainId, chain);
    return false;
  }

  private async askChainId(chainId: number, { client }: Chain): Promise<void> {
    let answered: number;
    try {
      answered = await client.getChainId();
    } catch {
      throw new Refusal("not_ready", { reason: `the RPC of chain ${chainId} does not answer` });
    }
    if (answered !== chainId) {
      const reason = `the RPC configured for chain ${chainId} serves chain ${answered}`;
      throw new Refusal("not_ready", { reason });
    }
  }
}
