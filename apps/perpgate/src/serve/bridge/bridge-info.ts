/** The public description of the bridge, with addresses in the usual form of each chain. */

import { type ChainConfig, termsOf, tronAddressOf } from "@perpgate/bridge";
import type { BridgeInfo, Chain, VoteScope } from "@perpgate/protocol";
import { bytesFromHex, checksumAddress } from "@perpgate/protocol/core";
import type { AttestorHistory, AttestorKeys } from "@perpgate/venue";

/** The bridge as the log has it now; `chains` as `chainsInLog` returns them. */
interface BridgeState {
  readonly keys: AttestorKeys;
  readonly history: AttestorHistory;
  readonly chains: readonly ChainConfig[];
  readonly paused: readonly string[];
}

export function bridgeInfoOf({
  keys,
  history,
  chains,
  paused,
}: BridgeState): Omit<BridgeInfo, "withdrawals"> {
  return {
    attestor: "chain",
    venue: keys.venue,
    venueId: history.venueId,
    members: [...keys.members],
    quorum: history.entries.at(-1)?.quorum ?? keys.members.length,
    keys: history.entries.map((entry) => ({
      position: String(entry.position),
      members: [...entry.members],
      quorum: entry.quorum,
    })),
    paused: [...paused],
    chains: chains.map(chainInfoOf),
  };
}

/**
 * The chains of this gateway's file with the chain id, vault and contracts of the log, which are in
 * force. The log does not have the rest, such as decimals: a chain or token that the file lacks is left
 * out, and attestors that have it do not vote until the gateway is started with the new file.
 */
export function chainsInLog(
  chains: readonly ChainConfig[],
  { chains: scopes = [] }: AttestorKeys,
): readonly ChainConfig[] {
  return chains.flatMap((config) => {
    const scope = scopes.find(({ chain }) => chain === config.chain);
    if (scope === undefined) return [];
    const tokens = scope.tokens.flatMap(({ token, contract }) => {
      const known = config.tokens[token];
      return known === undefined ? [] : [[token, { ...known, contract }] as const];
    });
    const { chainId, vault } = scope;
    return [{ ...config, chainId, vault, tokens: Object.fromEntries(tokens) }];
  });
}

/** What a vote about the chain must contain, without the venue's id. */
export function scopeOf(config: ChainConfig): Omit<VoteScope, "venue"> {
  const { chain, chainId, vault, tokens } = termsOf(config);
  return {
    chain,
    chainId,
    vault,
    tokens: tokens.map(({ token, contract }) => ({ token, contract })),
  };
}

function chainInfoOf(config: ChainConfig): BridgeInfo["chains"][number] {
  const { chain, confirmations, finality } = config;
  const { chainId, vault, tokens, minDepositMicros } = termsOf(config);
  return {
    chain,
    chainId,
    vault: writtenAddress(chain, vault),
    confirmations,
    finality,
    minDeposit: minDepositMicros / 1e6,
    tokens: tokens.map(({ token, contract, decimals }) => ({
      token,
      contract: writtenAddress(chain, contract),
      decimals,
    })),
  };
}

function writtenAddress(chain: Chain, digits: string): string {
  if (chain !== "tron") return checksumAddress(`0x${digits}`);
  return tronAddressOf(bytesFromHex(digits) ?? new Uint8Array(0));
}
