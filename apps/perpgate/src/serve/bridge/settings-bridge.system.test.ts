/** The bridge in the configuration: valid and invalid. */

import { chmodSync } from "node:fs";
import { join } from "node:path";
import { privateKeyFromSeed, publicKeyHex, readKeyFile } from "@perpgate/bridge";
import type { BridgeInfo } from "@perpgate/protocol";
import { describe, expect, test } from "vitest";
import { StartError } from "../../cli/start-error.js";
import { coarseMarket } from "../../testing/coarse-market.js";
import {
  configurationFile,
  PerpgateProcess,
  temporaryFolder,
} from "../../testing/perpgate-process.js";
import { checkSettings, joinSettings } from "../settings.js";
import { signInRulesOf } from "../sign-in-settings.js";
import { attestationParameters, attestorKeysOf, bridgeOf } from "./settings-bridge.js";
import { chainSettings, newKeyFile, startVenue } from "./testing/chain-process.js";

const USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
/** Nothing answers there; a venue must start nevertheless. */
const CHAIN = { rpc: "http://127.0.0.1:1", vault: USDC, usdc: USDC } as const;
const VAULT = "0xdAC17F958D2ee523a2206206994597C13D831ec7";
const SEED = "5e".repeat(32);
const PUBLIC = publicKeyHex(privateKeyFromSeed(SEED));

function settingsOf(file: unknown) {
  return joinSettings([checkSettings(file, "test.json")]);
}

function chainFile(bridge: object = {}) {
  return chainSettings({ ...CHAIN, vault: VAULT }, { members: [PUBLIC], ...bridge });
}

async function refusedStart(data: string, settings: object, environment: NodeJS.ProcessEnv = {}) {
  const args = ["--port", "0", "--data", data, "--config", configurationFile(settings)];
  const { code, stderr } = await new PerpgateProcess(args, environment).ended;
  expect(code).toBe(1);
  return stderr;
}

describe("parameters of the venue", () => {
  test("nothing configured: the dev attestor", () => {
    const bridge = bridgeOf(settingsOf({}), undefined);
    expect(bridge).toEqual({ kind: "dev" });
    expect(attestationParameters(bridge)).toEqual({});
    expect(attestorKeysOf(bridge)).toBeNull();
  });

  test("a chain: kind, members, quorum and keys, and no dev credit", () => {
    const bridge = bridgeOf(settingsOf(chainFile()), SEED);
    expect(attestationParameters(bridge)).toEqual({
      attestorKind: "chain",
      attestors: 1,
      attestorQuorum: 1,
      devCredit: 0,
    });
    expect(attestorKeysOf(bridge)).toEqual({
      venue: "e2e",
      members: [PUBLIC],
      chains: [
        {
          chain: "ethereum",
          chainId: 1,
          vault: VAULT.slice(2).toLowerCase(),
          tokens: [{ token: "USDC", contract: USDC.slice(2).toLowerCase() }],
        },
      ],
    });
  });
});

describe("refused, with the name of the key", () => {
  test.each([
    [
      "dev together with a chain",
      { attestor: "dev" },
      undefined,
      /"bridge": attestor: .*combined with a chain/,
    ],
    ["a key that nobody knows", {}, "77".repeat(32), /"bridge": members: .* is missing/],
    ["a key that is none", {}, "hunter2", /the key from the environment: .* is 64 hex digits/],
    [
      "a key file that is missing",
      { keyFiles: ["/nowhere/key"] },
      undefined,
      /keyFiles: \/nowhere/,
    ],
  ])("%s", (_, changes, key, message) => {
    const settings = settingsOf(chainFile(changes));
    expect(() => bridgeOf(settings, key)).toThrow(StartError);
    expect(() => bridgeOf(settings, key)).toThrow(message);
    expect(() => bridgeOf(settings, key)).not.toThrow(/hunter2|7777/);
  });

  test("an unknown key of the section, by the schema", () => {
    const wrong = { bridge: { chain: {} } };
    expect(() => checkSettings(wrong, "test.json")).toThrow('unknown key "bridge.chain"');
  });

  test("a key without a chain", () => {
    expect(() => bridgeOf(settingsOf({}), SEED)).toThrow("is configured, but no chain");
  });

  test("a key file that others may read", () => {
    const { path } = newKeyFile();
    chmodSync(path, 0o640);
    const settings = settingsOf(chainFile({ keyFiles: [path] }));
    expect(() => bridgeOf(settings, undefined)).toThrow(/readable by others \(mode 640\)/);
  });

  test("chain attestors and no list of domains, even on loopback", () => {
    const settings = settingsOf({ host: "127.0.0.1" });
    expect(signInRulesOf(settings, "dev").domains).toBe("any");
    expect(() => signInRulesOf(settings, "chain")).toThrow("deposits come from a chain");
  });
});

test("a data folder keeps its kind: dev cannot become chain, nor the reverse", async () => {
  const dev = join(temporaryFolder(), "data");
  const first = await startVenue(dev, { logLevel: "error" });
  first.child.signal("SIGTERM");
  expect((await first.child.ended).stdout).toContain("DEV ATTESTOR");
  const environment = { PERPGATE_ATTESTOR_KEY: SEED };
  expect(await refusedStart(dev, chainFile(), environment)).toContain(
    "began with the dev attestor and cannot go on with chain",
  );
  const chained = join(temporaryFolder(), "data");
  const second = await startVenue(chained, chainFile(), environment);
  second.child.signal("SIGTERM");
  const { stdout, stderr } = await second.child.ended;
  expect(stdout).toContain("deposits   ethereum; 1 of 1 attestors credit, 1 run here");
  expect(stdout + stderr).not.toContain(SEED);
  expect(await refusedStart(chained, { logLevel: "error" })).toContain(
    "began with the chain attestor and cannot go on with dev",
  );
  // The quorum and the members may change: the log records each change.
  const other = publicKeyHex(privateKeyFromSeed("44".repeat(32)));
  const third = await startVenue(chained, chainFile({ members: [PUBLIC, other] }), environment);
  third.child.signal("SIGTERM");
  expect((await third.child.ended).stdout).toContain("2 of 2 attestors credit, 1 run here");
}, 180_000);

test("a new key file: what is read from it has the public key", () => {
  const { path, publicKey } = newKeyFile();
  expect(publicKeyHex(privateKeyFromSeed(readKeyFile(path).trim()))).toBe(publicKey);
});

test("configure: the key of the environment stays a member, unless the file names the members", async () => {
  const { path, publicKey } = newKeyFile();
  const bridge = { members: undefined, keyFiles: [path] };
  const fileOf = (symbols: readonly string[], changes: object = bridge) => ({
    ...chainFile(changes),
    markets: symbols.map(coarseMarket),
  });
  const data = join(temporaryFolder(), "data");
  const { url } = await startVenue(data, fileOf(["AAA"]), { PERPGATE_ATTESTOR_KEY: SEED });
  const configure = async (file: object) => {
    const args = ["configure", "--data", data, "--config", configurationFile(file)];
    const { code, stderr } = await new PerpgateProcess(args).ended;
    expect([code, stderr]).toEqual([0, ""]);
  };
  const members = async () => {
    const info: BridgeInfo = JSON.parse(await (await fetch(`${url}/v1/bridge`)).text());
    return [info.members, info.quorum];
  };
  expect(await members()).toEqual([[publicKey, PUBLIC], 2]);
  await configure(fileOf(["AAA", "BBB"]));
  expect(await members()).toEqual([[publicKey, PUBLIC], 2]);
  await configure(fileOf(["AAA", "BBB"], { members: [publicKey], keyFiles: [path] }));
  expect(await members()).toEqual([[publicKey], 1]);
}, 180_000);

test("configure with a chain or token that the gateway was started without: refused until it is started with the file", async () => {
  const [one, other] = [{ contract: USDC }, { contract: `0x${"22".repeat(20)}` }];
  const chain = { rpc: [CHAIN.rpc], vault: VAULT, tokens: { USDC: one } };
  const larger = { ...chain, tokens: { USDC: one, USDT: other } };
  const data = join(temporaryFolder(), "data");
  const { child } = await startVenue(data, chainFile({ chains: { ethereum: chain } }));
  const configured = async (chains: object) => {
    const config = configurationFile(chainFile({ chains }));
    const args = ["configure", "--data", data, "--config", config];
    const { code, stderr } = await new PerpgateProcess(args).ended;
    return [code, stderr];
  };
  const refusal = (missing: string) => [
    1,
    `perpgate: "bridge": this gateway was started without ${missing}; start the gateways with the file first, then configure\n`,
  ];
  const all = { ethereum: larger, arbitrum: chain };
  expect(await configured({ ...all, ethereum: chain })).toEqual(refusal("USDC on arbitrum"));
  expect(await configured({ ethereum: larger })).toEqual(refusal("USDT on ethereum"));
  child.signal("SIGTERM");
  await child.ended;
  const { url } = await startVenue(data, chainFile({ chains: all }));
  expect(await configured(all)).toEqual([0, ""]);
  const info: BridgeInfo = JSON.parse(await (await fetch(`${url}/v1/bridge`)).text());
  expect(info.chains.map(({ chain: name, tokens }) => [name, tokens.length])).toEqual([
    ["ethereum", 2],
    ["arbitrum", 1],
  ]);
}, 180_000);
