/**
 * Contract wallets: asks a chain whether a contract accepts a signature (EIP-1271), including contracts
 * that are not deployed yet (EIP-6492).
 *
 * Each configured chain has one RPC address. An RPC of another chain would let a contract of that chain
 * sign in, so its chain id is checked first. An RPC that does not respond is the operator's failure, not
 * the client's: `ChainUnavailable`, which becomes 503.
 */

import type { Hex, PublicClient } from "viem";

export interface ContractClaim {
  readonly chainId: number;
  readonly address: `0x${string}`;
  readonly hash: Hex;
  readonly signature: Hex;
}

export interface ContractWallets {
  /** Whether an RPC is configured for the chain. */
  servesChain(chainId: number): boolean;
  /** @throws {ChainUnavailable} */
  isSignedByContract(claim: ContractClaim): Promise<boolean>;
}

export class ChainUnavailable extends Error {
  override readonly name = "ChainUnavailable";
}

const RPC_TIMEOUT_MS = 5_000;

interface Chain {
  readonly url: string;
  client: PublicClient | undefined;
  isIdChecked: boolean;
}

export class RpcContractWallets implements ContractWallets {
  private readonly chains = new Map<number, Chain>();

  /** Chain id → RPC address. */
  constructor(
    rpcAddresses: ReadonlyMap<number, string>,
    private readonly timeoutMs = RPC_TIMEOUT_MS,
  ) {
    for (const [chainId, url] of rpcAddresses) {
      this.chains.set(chainId, { url, client: undefined, isIdChecked: false });
    }
  }

  servesChain(chainId: number): boolean {
    return this.chains.has(chainId);
  }

  async isSignedByContract(claim: ContractClaim): Promise<boolean> {
    const { chainId, address, hash, signature } = claim;
    const chain = this.chains.get(chainId);
    if (chain === undefined) return false;
    if (!chain.isIdChecked) {
      await this.checkChainId(chainId, chain);
      chain.isIdChecked = true;
    }
    try {
      const client = await this.clientOf(chain);
      if (await client.verifyHash({ address, hash, signature })) return true;
    } catch {
      // Handled below, like `false`.
    }
    // viem also returns false if the call failed. If the RPC responds now, the signature is invalid.
    await this.checkChainId(chainId, chain);
    return false;
  }

  /** viem takes half a second to load, so it is loaded with the first contract wallet. */
  private async clientOf(chain: Chain): Promise<PublicClient> {
    if (chain.client === undefined) {
      const { createPublicClient, http } = await import("viem");
      const transport = http(chain.url, { timeout: this.timeoutMs, retryCount: 0 });
      chain.client = createPublicClient({ transport });
    }
    return chain.client;
  }

  private async checkChainId(chainId: number, chain: Chain): Promise<void> {
    const client = await this.clientOf(chain);
    let actual: number;
    try {
      actual = await client.getChainId();
    } catch {
      throw new ChainUnavailable(`the RPC of chain ${chainId} does not answer`);
    }
    if (actual !== chainId) {
      throw new ChainUnavailable(`the RPC configured for chain ${chainId} serves chain ${actual}`);
    }
  }
}
