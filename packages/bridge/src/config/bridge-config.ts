/**
 * The bridge's configuration, resolved: settings in, either the `dev` attestor or attestors on
 * chains out. The two never stand side by side: the `dev` attestor credits whoever asks.
 */

import type { KeyObject } from "node:crypto";
import type { Chain } from "@perpgate/protocol";
import { Ajv } from "ajv";
import { privateKeyFromSeed, publicKeyFromHex, publicKeyHex } from "../attestor-key.js";
import { readKeyFile } from "../key-file.js";
import { BridgeSettings } from "./bridge-settings.js";
import { type ChainConfig, resolveChain } from "./chain-config.js";
import { BridgeConfigError } from "./config-error.js";

export interface LocalAttestor {
  /** Its number: its place among the members. */
  readonly index: number;
  readonly privateKey: KeyObject;
}

export interface ChainBridgeConfig {
  readonly kind: "chain";
  readonly venue: string;
  /** Public keys by attestor number; their count and the quorum go into the venue's Genesis. */
  readonly members: readonly KeyObject[];
  readonly quorum: number;
  readonly attestors: readonly LocalAttestor[];
  readonly chains: readonly ChainConfig[];
}

export type BridgeConfig = { readonly kind: "dev" } | ChainBridgeConfig;

const DEFAULT_VENUE = "perpgate-testnet";
const CHAINS: readonly Chain[] = ["ethereum", "arbitrum", "tron"];

const isSettings = new Ajv({ coerceTypes: false }).compile<BridgeSettings>(BridgeSettings);

export interface KeySources {
  /** The text of a key file. */
  readonly readKey?: (path: string) => string;
  /** A key that stands in no file, as in an environment variable. */
  readonly key?: string;
}

/** Judges untrusted settings and resolves them. */
export function resolveBridge(value: unknown, sources: KeySources = {}): BridgeConfig {
  if (!isSettings(value)) {
    const [error] = isSettings.errors ?? [];
    const key = (error?.instancePath ?? "").slice(1).replaceAll("/", ".");
    throw new BridgeConfigError(`${key === "" ? "bridge" : key}: ${error?.message ?? "is wrong"}`);
  }
  const chains = CHAINS.flatMap((chain) => {
    const settings = value.chains?.[chain];
    return settings === undefined ? [] : [resolveChain(chain, settings)];
  });
  const kind = value.attestor ?? (chains.length > 0 ? "chain" : "dev");
  if (kind === "dev") return resolveDev(value, chains, sources);
  if (chains.length === 0) throw new BridgeConfigError("chains: `chain` attestors need a chain");
  const keys = privateKeysOf(value.keyFiles ?? [], sources);
  const memberKeys = value.members?.map((hex) => hex.toLowerCase()) ?? keys.map(publicKeyHex);
  if (memberKeys.length === 0) throw new BridgeConfigError("members: nobody attests");
  if (new Set(memberKeys).size !== memberKeys.length) {
    throw new BridgeConfigError("members: one key is listed twice and would vote twice");
  }
  const quorum = value.quorum ?? Math.floor(memberKeys.length / 2) + 1;
  if (quorum > memberKeys.length) throw new BridgeConfigError("quorum: more than the members");
  return {
    kind,
    venue: value.venue ?? DEFAULT_VENUE,
    members: memberKeys.map(publicKeyFromHex),
    quorum,
    attestors: keys.map((privateKey) => {
      const index = memberKeys.indexOf(publicKeyHex(privateKey));
      if (index < 0) {
        throw new BridgeConfigError(
          `members: does not list ${publicKeyHex(privateKey)}, whose private key is given`,
        );
      }
      return { index, privateKey };
    }),
    chains,
  };
}

function resolveDev(
  settings: BridgeSettings,
  chains: readonly ChainConfig[],
  sources: KeySources,
): BridgeConfig {
  if (chains.length > 0) {
    throw new BridgeConfigError(
      "attestor: `dev` credits whoever asks and never stands beside a configured chain",
    );
  }
  for (const key of ["members", "keyFiles", "quorum"] as const) {
    if (settings[key] !== undefined) {
      throw new BridgeConfigError(`${key}: has no meaning beside the \`dev\` attestor`);
    }
  }
  if (sources.key !== undefined) {
    throw new BridgeConfigError("attestor: a private key is given, and no chain is configured");
  }
  return { kind: "dev" };
}

/** Messages name where a key was looked for, never what was found there. */
function privateKeysOf(
  files: readonly string[],
  { readKey = readKeyFile, key }: KeySources,
): KeyObject[] {
  const texts = files.map((path): [string, () => string] => [path, () => readKey(path)]);
  if (key !== undefined) texts.push(["the key of the environment", () => key]);
  return texts.map(([origin, read]) => {
    try {
      return privateKeyFromSeed(read().trim());
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new BridgeConfigError(`keyFiles: ${origin}: ${reason}`);
    }
  });
}
