/** The public description of the bridge, with addresses in the usual form of each chain. */

import {
  type ChainBridgeConfig,
  type ChainConfig,
  publicKeyHex,
  termsOf,
  tronAddressOf,
} from "@perpgate/bridge";
import type { BridgeInfo, Chain, VoteScope } from "@perpgate/protocol";
import { bytesFromHex, checksumAddress } from "@perpgate/protocol/core";
import type { AttestorHistory } from "@perpgate/venue";

/** The part of the bridge that changes while the venue runs. */
export interface BridgeState {
  readonly history: AttestorHistory;
  readonly paused: readonly string[];
}

export function bridgeInfoOf(
  { venue, members, quorum, chains }: ChainBridgeConfig,
  { history, paused }: BridgeState,
): BridgeInfo {
  return {
    attestor: "chain",
    venue,
    venueId: history.venueId,
    members: members.map(publicKeyHex),
    quorum,
    keys: history.entries.map((entry) => ({
      position: String(entry.position),
      members: [...entry.members],
      quorum: entry.quorum,
    })),
    paused: [...paused],
    chains: chains.map(chainInfoOf),
  };
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
