/** The bridge as the public sees it: addresses in the form that each chain's users write. */

import {
  type ChainBridgeConfig,
  type ChainConfig,
  publicKeyHex,
  tronAddressOf,
} from "@perpgate/bridge";
import { type BridgeInfo, bytesFromHex, type Chain, type Token } from "@perpgate/protocol";
import { checksumAddress } from "@perpgate/protocol/ethereum-address";

const TOKENS: readonly Token[] = ["USDC", "USDT"];

export function bridgeInfoOf({ venue, members, quorum, chains }: ChainBridgeConfig): BridgeInfo {
  return {
    attestor: "chain",
    venue,
    members: members.map(publicKeyHex),
    quorum,
    chains: chains.map(chainInfoOf),
  };
}

function chainInfoOf(config: ChainConfig): BridgeInfo["chains"][number] {
  const { chain, chainId, vault, confirmations, tokens } = config;
  return {
    chain,
    chainId,
    vault: writtenAddress(chain, vault),
    confirmations,
    tokens: TOKENS.flatMap((token) => {
      const entry = tokens[token];
      if (entry === undefined) return [];
      const { contract, decimals } = entry;
      return [{ token, contract: writtenAddress(chain, contract), decimals }];
    }),
  };
}

function writtenAddress(chain: Chain, digits: string): string {
  if (chain !== "tron") return checksumAddress(`0x${digits}`);
  return tronAddressOf(bytesFromHex(digits) ?? new Uint8Array(0));
}
