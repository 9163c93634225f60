import { TestCosigner } from "@perpgate/protocol/testing";
import { describe, expect, test } from "vitest";
import { privateKeyFromSeed, publicKeyHex, resolveBridge } from "../index.js";
import { SEEDS } from "../testing/attestors.js";

const LOG_KEY = "venue.example/log+c01c9b6b+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c";

const USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
const USDT = "0xdAC17F958D2ee523a2206206994597C13D831ec7";
const VAULT = `0x${"11".repeat(20)}`;

const ETHEREUM = {
  rpc: ["https://one.example/key"],
  vault: VAULT,
  tokens: { USDC: { contract: USDC }, USDT: { contract: USDT } },
};
const PUBLIC = SEEDS.map((seed) => publicKeyHex(privateKeyFromSeed(seed)));
/** The name of a key file is the index of its seed. */
const readKey = (path: string): string => `${SEEDS[Number(path)] ?? "nothing"}\n`;

function resolve(changes: object = {}) {
  const settings = { keyFiles: ["0"], chains: { ethereum: ETHEREUM }, ...changes };
  return resolveBridge(settings, { readKey });
}

function withChain(changes: object) {
  return resolve({ chains: { ethereum: { ...ETHEREUM, ...changes } } });
}

describe("defaults", () => {
  test("nothing configured: the dev attestor", () => {
    expect(resolveBridge({})).toEqual({ kind: "dev" });
  });

  test("one key, one chain: 1 of 1", () => {
    expect(resolve()).toMatchObject({
      kind: "chain",
      venue: "perpgate-testnet",
      quorum: 1,
      attestors: [{ index: 0 }],
      chains: [
        {
          chain: "ethereum",
          chainId: 1,
          vault: "11".repeat(20),
          confirmations: 64,
          minAgreeing: 1,
          tokens: { USDC: { contract: USDC.slice(2).toLowerCase(), decimals: 6 } },
        },
      ],
    });
  });

  test("the age of the newest block: limited where the chain always has new blocks", () => {
    expect(withChain({})).toMatchObject({ chains: [{ maxHeadAgeMs: 300_000 }] });
    const local = { chainId: 31_337 };
    expect(withChain(local)).toMatchObject({ chains: [{ maxHeadAgeMs: 31_536_000_000 }] });
    const both = { ...local, maxHeadAgeMs: 1_000 };
    expect(withChain(both)).toMatchObject({ chains: [{ maxHeadAgeMs: 1_000 }] });
  });

  test("members: majority quorum; an attestor's index is its place in the list", () => {
    expect(resolve({ members: PUBLIC, keyFiles: ["2"] })).toMatchObject({
      quorum: 2,
      attestors: [{ index: 2 }],
    });
  });

  test("members without a local key: a venue that only counts votes", () => {
    expect(resolve({ members: PUBLIC, keyFiles: [] })).toMatchObject({ attestors: [] });
  });

  test("endpoints: a majority must agree", () => {
    const rpc = ["https://a.example", "https://b.example", "https://c.example"];
    expect(withChain({ rpc })).toMatchObject({ chains: [{ minAgreeing: 2 }] });
  });

  test("arbitrum and tron: their own defaults", () => {
    const tron = {
      rpc: ["https://t.example"],
      vault: "TQHgMpVzWkhSsRB4BzZgmV8uW4cFL8eaBr",
      tokens: { USDT: { contract: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t" } },
    };
    expect(resolve({ chains: { tron, arbitrum: ETHEREUM } })).toMatchObject({
      chains: [
        { chain: "arbitrum", chainId: 42_161, confirmations: 1_200 },
        { chain: "tron", chainId: 728_126_428, confirmations: 20 },
      ],
    });
  });
});

describe("refused", () => {
  test("dev with a configured chain, chain without one", () => {
    expect(() => resolve({ attestor: "dev" })).toThrow("cannot be combined with a chain");
    expect(() => resolveBridge({ attestor: "chain" })).toThrow("need a chain");
    expect(() => resolveBridge({ attestor: "dev", quorum: 1 })).toThrow("quorum: not allowed");
  });

  test.each<[string, object, string]>([
    ["a vault with a wrong checksum", { vault: USDC.replace("A0b", "a0B") }, "vault: not an"],
    ["a Tron address on Ethereum", { vault: "TQHgMpVzWkhSsRB4BzZgmV8uW4cFL8eaBr" }, "vault"],
    ["the vault as a token", { vault: USDC }, "must differ"],
    [
      "one contract for both tokens",
      { tokens: { USDC: { contract: USDC }, USDT: { contract: USDC } } },
      "must differ",
    ],
    ["no token", { tokens: {} }, "needs at least one token"],
    ["an endpoint listed twice", { rpc: ["https://a.example", "https://A.example/"] }, "twice"],
    ["more agreeing than endpoints", { minAgreeing: 2 }, "minAgreeing"],
    ["no endpoint", { rpc: [] }, "chains.ethereum.rpc"],
    ["something else than http", { rpc: ["file:///etc/passwd"] }, "chains.ethereum.rpc.0"],
    ["an unknown key", { confirmation: 3 }, "chains.ethereum"],
    ["no confirmations", { confirmations: 0 }, "chains.ethereum.confirmations"],
  ])("%s", (_, changes, message) => {
    expect(() => withChain(changes)).toThrow(message);
  });

  test("keys: none, duplicate, not of a member, unreadable", () => {
    expect(() => resolve({ keyFiles: [] })).toThrow("at least one is needed");
    expect(() => resolve({ members: [PUBLIC[0], PUBLIC[0]?.toUpperCase()] })).toThrow("twice");
    expect(() => resolve({ members: [PUBLIC[1]] })).toThrow(`${PUBLIC[0]} is missing`);
    expect(() => resolve({ keyFiles: ["9"] })).toThrow("keyFiles: 9: an attestor's private key");
    expect(() => resolve({ members: PUBLIC, quorum: 4 })).toThrow("quorum");
  });

  test("key from the environment: used like one from a file, not in messages, not with dev", () => {
    const chains = { ethereum: ETHEREUM };
    expect(resolveBridge({ members: PUBLIC, chains }, { key: `${SEEDS[1]}\n` })).toMatchObject({
      attestors: [{ index: 1 }],
    });
    const wrong = "not-a-secret-that-may-be-shown";
    const refused = () => resolveBridge({ chains }, { key: wrong });
    expect(refused).toThrow("64 hex digits");
    expect(refused).not.toThrow(wrong);
    expect(() => resolveBridge({}, { key: SEEDS[0]! })).toThrow("is configured, but no chain");
  });
});

describe("withdrawals", () => {
  const seeds = ["a1", "b2"].map((byte) => byte.repeat(32));
  const members = seeds.map((seed) => publicKeyHex(privateKeyFromSeed(seed)));
  const chain = {
    rpc: ["http://127.0.0.1:1"],
    vault: `0x${"11".repeat(20)}`,
    tokens: { USDC: { contract: `0x${"22".repeat(20)}` } },
  };
  const bounds = {
    minWithdrawal: 10,
    fee: 1,
    accountPerDay: 100,
    venuePerHour: 100,
    venuePerDay: 100,
  };
  const settings = (changes: object = {}, withdrawals: object = {}) => ({
    members,
    chains: { ethereum: chain },
    withdrawals: { ...bounds, maxUnpaid: { ethereum: 100 }, ...withdrawals },
    ...changes,
  });

  test("the terms of the log: a day to live, and all tokens of the chains that are named", () => {
    expect(resolveBridge(settings())).toMatchObject({
      withdrawals: {
        ...bounds,
        lifeSeconds: 86_400,
        chains: [{ chain: "ethereum", chainId: 1, tokens: ["USDC"], maxUnpaid: 100 }],
      },
    });
  });

  test.each([
    ["quorum of two", settings({ quorum: 1 })],
    ["arbitrum is no chain here", settings({}, { maxUnpaid: { arbitrum: 1 } })],
    ["names no chain", settings({}, { maxUnpaid: {} })],
    ["finalized block", settings({ chains: { ethereum: { ...chain, confirmations: 3 } } })],
    ["above 0", settings({}, { minWithdrawal: 0 })],
    [
      "decimals",
      settings({
        chains: {
          ethereum: { ...chain, tokens: { USDC: { ...chain.tokens.USDC, decimals: 5 } } },
        },
      }),
    ],
  ])("refused: %s", (problem, refused) => {
    expect(() => resolveBridge(refused)).toThrow(problem);
  });
});

describe("signing", () => {
  const rpc = ["https://one.example", "https://two.example"];
  const signing = {
    keyFile: "vault.key",
    record: "signed.jsonl",
    logKey: LOG_KEY,
    witnessKeys: [new TestCosigner("witness.example/w1").text],
  };
  const settings = (changes: object = {}, chain: object = {}) => ({
    chains: { ethereum: { ...ETHEREUM, rpc, ...chain } },
    signing: { ...signing, ...changes },
  });

  test("two endpoints and a witness: accepted", () => {
    expect(resolve(settings())).toMatchObject({ signing, chains: [{ minAgreeing: 2 }] });
  });

  test.each([
    ["one endpoint", settings({}, { rpc: rpc.slice(1) }), "two endpoints that agree"],
    ["one of two endpoints suffices", settings({}, { minAgreeing: 1 }), "two endpoints"],
    ["no witness", settings({ witnessKeys: [] }), "cosignature of a witness"],
    ["no cosignature required", settings({ require: 0 }), "cosignature of a witness"],
    ["a log key that is none", settings({ logKey: "x" }), "signing.logKey"],
    ["two attestors", { ...settings(), keyFiles: ["0", "1"] }, "one attestor a process"],
  ])("refused: %s", (_, refused, problem) => {
    expect(() => resolve(refused)).toThrow(problem);
  });
});
