/**
 * The bridge of the settings. A private key comes from a file that only its owner can read, or from
 * the environment: flags are visible to every user of the machine, and a configuration may be shared.
 */

import {
  type BridgeConfig,
  BridgeConfigError,
  publicKeyHex,
  resolveBridge,
} from "@perpgate/bridge";
import type { AttestorKeys, VenueParameters } from "@perpgate/venue";
import { StartError } from "../../cli/start-error.js";
import type { Settings } from "../settings.js";
import { scopeOf } from "./bridge-info.js";

export function bridgeOf({ bridge }: Pick<Settings, "bridge">, key: string | undefined) {
  try {
    return resolveBridge(bridge, key === undefined ? {} : { key });
  } catch (error) {
    if (error instanceof BridgeConfigError) throw new StartError(`"bridge": ${error.message}`);
    throw error;
  }
}

/** The engine's parameters of the bridge. */
export function attestationParameters(bridge: BridgeConfig): Partial<VenueParameters> {
  if (bridge.kind === "dev") return {};
  return {
    attestorKind: "chain",
    attestors: bridge.members.length,
    attestorQuorum: bridge.quorum,
    devCredit: 0,
    ...(bridge.withdrawals === undefined ? {} : { withdrawals: bridge.withdrawals }),
  };
}

/** The keys and chains that the log records, so that anyone can check votes. */
export function attestorKeysOf(bridge: BridgeConfig): AttestorKeys | null {
  if (bridge.kind === "dev") return null;
  const { venue, members, chains } = bridge;
  return { venue, members: members.map(publicKeyHex), chains: chains.map(scopeOf) };
}
