/**
 * Contract wallets: asks a chain whether a contract vouches for a signature (EIP-1271), also one
 * that is not deployed yet (EIP-6492).
 *
 * Each configured chain has one RPC address. An RPC that answers for another chain would let a
 * contract of that chain sign in, so its chain id is compared before it is believed. An RPC that
 * does not answer is our failure and not the client's: `ChainUnavailable`, which becomes 503.
 */

import type { Hex, PublicClient } from "viem";

/** What a contract is asked to vouch for. */
export interface ContractClaim {
  readonly chainId: number;
  readonly address: `0x${string}`;
  readonly hash: Hex;
  readonly signature: Hex;
}

export interface ContractWallets {
  /** Whether contracts of the chain can be asked. */
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
  isProven: boolean;
}

export class RpcContractWallets implements ContractWallets {
  private readonly chains = new Map<number, Chain>();

  /** Chain id → RPC address. */
  constructor(
    rpcAddresses: ReadonlyMap<number, string>,
    private readonly timeoutMs = RPC_TIMEOUT_MS,
  ) {
    for (const [chainId, url] of rpcAddresses) {
      this.chains.set(chainId, { url, client: undefined, isProven: false });
    }
  }

  servesChain(chainId: number): boolean {
    return this.chains.has(chainId);
  }

  async isSignedByContract(claim: ContractClaim): Promise<boolean> {
    const { chainId, address, hash, signature } = claim;
    const chain = this.chains.get(chainId);
    if (chain === undefined) return false;
    if (!chain.isProven) {
      await this.askChainId(chainId, chain);
      chain.isProven = true;
    }
    try {
      const client = await this.clientOf(chain);
      if (await client.verifyHash({ address, hash, signature })) return true;
    } catch {
      // Told apart below, as the library's own "false" must be.
    }
    // The library also says no where the call did not arrive; a chain that still answers meant it.
    await this.askChainId(chainId, chain);
    return false;
  }

  /** Loaded with the first contract that signs in: it takes half a second. */
  private async clientOf(chain: Chain): Promise<PublicClient> {
    if (chain.client === undefined) {
      const { createPublicClient, http } = await import("viem");
      const transport = http(chain.url, { timeout: this.timeoutMs, retryCount: 0 });
      chain.client = createPublicClient({ transport });
    }
    return chain.client;
  }

  private async askChainId(chainId: number, chain: Chain): Promise<void> {
    const client = await this.clientOf(chain);
    let answered: number;
    try {
      answered = await client.getChainId();
    } catch {
      throw new ChainUnavailable(`the RPC of chain ${chainId} does not answer`);
    }
    if (answered !== chainId) {
      throw new ChainUnavailable(
        `the RPC configured for chain ${chainId} serves chain ${answered}`,
      );
    }
  }
}
