/**
 * Validates the bridge's settings: either the `dev` attestor or attestors on chains, never both,
 * because the `dev` attestor credits every request.
 */

import type { KeyObject } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Chain, Token } from "@perpgate/protocol";
import { CHAINS, TOKENS, unitsOfMicros } from "@perpgate/protocol/core";
import { parseLogKey, witnessPolicy } from "@perpgate/protocol/receipts";
import { Ajv } from "ajv";
import {
  privateKeyFromSeed,
  publicKeyFromHex,
  publicKeyHex,
  readKeyFile,
} from "../attestor-key.js";
import { BridgeSettings } from "./bridge-settings.js";
import { BridgeConfigError, type ChainConfig, resolveChain } from "./chain-config.js";

export interface LocalAttestor {
  /** Its index among the members. */
  readonly index: number;
  readonly privateKey: KeyObject;
}

export interface ChainBridgeConfig {
  readonly kind: "chain";
  readonly venue: string;
  /** Public keys by attestor index; Genesis contains their number and the quorum. */
  readonly members: readonly KeyObject[];
  readonly quorum: number;
  readonly attestors: readonly LocalAttestor[];
  readonly chains: readonly ChainConfig[];
  readonly signing?: NonNullable<BridgeSettings["signing"]>;
  readonly withdrawals?: WithdrawalTermsConfig;
}

/** What a venue lets out, in dollars and seconds. */
export interface WithdrawalTermsConfig {
  readonly minWithdrawal: number;
  readonly fee: number;
  readonly accountPerDay: number;
  readonly venuePerHour: number;
  readonly venuePerDay: number;
  readonly lifeSeconds: number;
  readonly chains: readonly {
    readonly chain: Chain;
    readonly chainId: number;
    readonly tokens: readonly Token[];
    readonly maxUnpaid: number;
  }[];
}

export type BridgeConfig = { readonly kind: "dev" } | ChainBridgeConfig;

const DEFAULT_VENUE = "perpgate-testnet";

interface KeySources {
  /** The text of a key file. */
  readonly readKey?: (path: string) => string;
  /** A key from the environment. */
  readonly key?: string;
}

/** @throws BridgeConfigError for invalid settings. */
export function resolveBridge(value: unknown, sources: KeySources = {}): BridgeConfig {
  const settings = checkSettings(value);
  const chains = CHAINS.flatMap((name) => {
    const chain = settings.chains?.[name];
    return chain === undefined ? [] : [resolveChain(name, chain)];
  });
  const kind = settings.attestor ?? (chains.length > 0 ? "chain" : "dev");
  if (kind === "dev") return resolveDev(settings, chains, sources);
  if (chains.length === 0) throw new BridgeConfigError("chains: `chain` attestors need a chain");
  const keys = privateKeysOf(settings.keyFiles ?? [], sources);
  const memberKeys = settings.members?.map((hex) => hex.toLowerCase()) ?? keys.map(publicKeyHex);
  if (memberKeys.length === 0) throw new BridgeConfigError("members: at least one is needed");
  if (new Set(memberKeys).size !== memberKeys.length) {
    throw new BridgeConfigError("members: a key is listed twice");
  }
  const quorum = settings.quorum ?? Math.floor(memberKeys.length / 2) + 1;
  if (quorum > memberKeys.length)
    throw new BridgeConfigError("quorum: larger than the number of members");
  return {
    kind,
    venue: settings.venue ?? DEFAULT_VENUE,
    members: memberKeys.map(publicKeyFromHex),
    quorum,
    attestors: keys.map((privateKey) => {
      const index = memberKeys.indexOf(publicKeyHex(privateKey));
      if (index < 0) {
        throw new BridgeConfigError(
          `members: ${publicKeyHex(privateKey)} is missing, although its private key is configured`,
        );
      }
      return { index, privateKey };
    }),
    chains,
    ...signingOf(settings, keys.length, chains),
    ...withdrawalsOf(settings, chains, quorum),
  };
}

const DEFAULT_LIFE_SECONDS = 86_400;

/** What is refused here could pay twice, or never. */
function withdrawalsOf(
  { withdrawals }: BridgeSettings,
  chains: readonly ChainConfig[],
  quorum: number,
): Pick<ChainBridgeConfig, "withdrawals"> {
  if (withdrawals === undefined) return {};
  const refuse = (problem: string): never => {
    throw new BridgeConfigError(`withdrawals: ${problem}`);
  };
  if (quorum < 2) refuse("need a quorum of two attestors or more");
  if (withdrawals.minWithdrawal <= 0) refuse("minWithdrawal must be above 0");
  const { maxUnpaid, lifeSeconds = DEFAULT_LIFE_SECONDS, ...bounds } = withdrawals;
  const paying = CHAINS.flatMap((name) => {
    const most = name === "tron" ? undefined : maxUnpaid[name];
    if (most === undefined) return [];
    const chain = chains.find((each) => each.chain === name) ?? refuse(`${name} is no chain here`);
    if (chain.finality !== "finalized")
      refuse(`${name} needs its finalized block: no confirmations`);
    const tokens = TOKENS.filter((token) => {
      const decimals = chain.tokens[token]?.decimals;
      if (decimals === undefined) return false;
      return unitsOfMicros(1, decimals) === undefined
        ? refuse(`${token} has ${decimals} decimals`)
        : true;
    });
    return [{ chain: name, chainId: chain.chainId, tokens, maxUnpaid: most }];
  });
  if (paying.length === 0) refuse("maxUnpaid names no chain");
  return { withdrawals: { ...bounds, lifeSeconds, chains: paying } };
}

/** Two attestors with one key of the vault, or one record, would be one. */
function signingOf(
  { signing }: BridgeSettings,
  keys: number,
  chains: readonly ChainConfig[],
): Pick<ChainBridgeConfig, "signing"> {
  if (signing === undefined) return {};
  if (keys > 1) throw new BridgeConfigError("signing: for one attestor a process");
  const alone = chains.find(({ chain, minAgreeing }) => chain !== "tron" && minAgreeing < 2);
  if (alone !== undefined) {
    throw new BridgeConfigError(`signing: ${alone.chain} needs two endpoints that agree, or more`);
  }
  const { logKey, witnessKeys, require } = signing;
  if (parseLogKey(logKey.trim()) === undefined) {
    throw new BridgeConfigError("signing.logKey: not the verifier key of a log");
  }
  const policy = witnessPolicy({ witnessKeys, require });
  if (typeof policy === "string") throw new BridgeConfigError(`signing: ${policy}`);
  if (policy.required === 0) {
    throw new BridgeConfigError("signing: needs the cosignature of a witness, or of more");
  }
  return { signing };
}

function checkSettings(value: unknown): BridgeSettings {
  // Most venues have none, and compiling the schema takes a tenth of a second.
  if (isDeepStrictEqual(value, {})) return {};
  const ajv = new Ajv({ meta: false, validateSchema: false, verbose: true });
  if (ajv.validate<BridgeSettings>(BridgeSettings, value)) return value;
  const [error] = ajv.errors ?? [];
  const key = (error?.instancePath ?? "").slice(1).replaceAll("/", ".");
  const expected: unknown = error?.keyword === "pattern" && error.parentSchema?.description;
  const problem = typeof expected === "string" ? `must be ${expected}` : error?.message;
  throw new BridgeConfigError(`${key === "" ? "bridge" : key}: ${problem ?? "is invalid"}`);
}

function resolveDev(
  settings: BridgeSettings,
  chains: readonly ChainConfig[],
  sources: KeySources,
): BridgeConfig {
  if (chains.length > 0) {
    throw new BridgeConfigError(
      "attestor: `dev` credits every request and cannot be combined with a chain",
    );
  }
  for (const key of ["members", "keyFiles", "quorum"] as const) {
    if (settings[key] !== undefined) {
      throw new BridgeConfigError(`${key}: not allowed with the \`dev\` attestor`);
    }
  }
  if (sources.key !== undefined) {
    throw new BridgeConfigError("attestor: a private key is configured, but no chain");
  }
  return { kind: "dev" };
}

/** Messages contain the origin of a key, never its text. */
function privateKeysOf(
  files: readonly string[],
  { readKey = readKeyFile, key }: KeySources,
): KeyObject[] {
  const texts = files.map((path): [string, () => string] => [path, () => readKey(path)]);
  if (key !== undefined) texts.push(["the key from the environment", () => key]);
  return texts.map(([origin, read]) => {
    try {
      return privateKeyFromSeed(read().trim());
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new BridgeConfigError(`keyFiles: ${origin}: ${reason}`);
    }
  });
}
