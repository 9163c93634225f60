import { describe, expect, test } from "vitest";
import { privateKeyFromSeed, publicKeyFromHex, publicKeyHex } from "./attestor-key.js";
import { signVote, type Vote, verifyVote, voteBytes } from "./vote.js";

/** RFC 8032, test 1. */
const SEED = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
const PUBLIC = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

const KEY = privateKeyFromSeed(SEED);
const memberOf = (attestor: number) => [publicKeyFromHex(PUBLIC)][attestor];

const VOTE: Vote = {
  venue: "5e".repeat(32),
  attestor: 0,
  depositId: 48_213,
  chain: "ethereum",
  chainId: 1,
  vault: "33".repeat(20),
  tokens: [
    { token: "USDC", contract: "44".repeat(20) },
    { token: "USDT", contract: "55".repeat(20) },
  ],
  txHash: "ab".repeat(32),
  verdict: "credit",
  confirmations: 64,
  required: 64,
  block: { number: 21_000_000, hash: "cd".repeat(32) },
  credits: [
    { logIndex: 3, token: "USDC", address: "11".repeat(20), amountMicros: 1_500_000 },
    { logIndex: 7, token: "USDT", address: "22".repeat(20), amountMicros: 2 },
  ],
  reason: "",
  part: 2,
  parts: 3,
  votedAtMs: 1_760_000_000_000,
};

const WHOLE = { part: 1, parts: 1 } as const;

describe("canonical bytes", () => {
  test("voteBytes: exactly these lines", () => {
    expect(Buffer.from(voteBytes(VOTE)).toString("latin1")).toBe(
      [
        "perpgate deposit vote v2",
        `venue ${"5e".repeat(32)}`,
        "attestor 0",
        "deposit 48213",
        `transaction ethereum 1 ${"ab".repeat(32)}`,
        `vault ${"33".repeat(20)}`,
        `token USDC ${"44".repeat(20)}`,
        `token USDT ${"55".repeat(20)}`,
        "verdict credit",
        "confirmations 64 of 64",
        `block 21000000 ${"cd".repeat(32)}`,
        "part 2 of 3",
        `credit 3 USDC ${"11".repeat(20)} 1500000`,
        `credit 7 USDT ${"22".repeat(20)} 2`,
        "reason -",
        "time 1760000000000",
        "",
      ].join("\n"),
    );
  });

  test("verifyVote: every field is signed", async () => {
    const changes: Partial<Vote>[] = [
      { depositId: 1 },
      { chain: "arbitrum" },
      { txHash: "ac".repeat(32) },
      { chainId: 5 },
      { vault: "34".repeat(20) },
      { tokens: [VOTE.tokens[0]!, { token: "USDT", contract: "56".repeat(20) }] },
      { part: 1 },
      { parts: 4 },
      { confirmations: 63 },
      { required: 65 },
      { block: null },
      { block: { number: 21_000_001, hash: "cd".repeat(32) } },
      { credits: VOTE.credits.slice(0, 1) },
      { ...WHOLE, credits: [], verdict: "confirming" },
      { ...WHOLE, credits: [], verdict: "reject", reason: "no_transfer" },
      { votedAtMs: 1 },
    ];
    const { signature } = signVote(VOTE, KEY);
    for (const change of changes) {
      const vote = { ...VOTE, ...change };
      expect(await verifyVote({ vote, signature }, memberOf, VOTE.venue)).toBe("invalid_signature");
    }
    expect(await verifyVote({ vote: VOTE, signature }, memberOf, VOTE.venue)).toBeNull();
  });
});

describe("malformed", () => {
  const [first, second] = VOTE.credits;
  test.each<[string, Partial<Vote>]>([
    ["a line in the venue's name", { venue: "x\nattestor 1" }],
    ["a line in the reason", { ...WHOLE, verdict: "reject", credits: [], reason: "x\ntime 1" }],
    ["a rejection without a reason", { ...WHOLE, verdict: "reject", credits: [] }],
    ["a rejection of a part", { verdict: "reject", credits: [], reason: "no_transfer" }],
    ["a part after the last", { part: 4 }],
    ["a token without its contract", { tokens: [VOTE.tokens[0]!] }],
    ["no tokens", { tokens: [] }],
    ["tokens out of order", { tokens: [...VOTE.tokens].reverse() }],
    ["a credit with a reason", { reason: "gift" }],
    ["a credit of nothing", { credits: [] }],
    ["credits with another verdict", { ...WHOLE, verdict: "confirming" }],
    ["logs out of order", { credits: [second!, first!] }],
    ["a log named twice", { credits: [first!, first!] }],
    ["no amount", { credits: [{ ...first!, amountMicros: 0 }] }],
    ["half a micro", { credits: [{ ...first!, amountMicros: 0.5 }] }],
    ["an amount above 2^53", { credits: [{ ...first!, amountMicros: 2 ** 53 }] }],
    ["an address in capitals", { credits: [{ ...first!, address: "AB".repeat(20) }] }],
    ["a hash with 0x", { txHash: `0x${"ab".repeat(31)}` }],
    ["a negative attestor", { attestor: -1 }],
  ])("%s: neither signed nor accepted", async (_, change) => {
    const vote = { ...VOTE, ...change };
    expect(() => signVote(vote, KEY)).toThrow(RangeError);
    const { signature } = signVote(VOTE, KEY);
    expect(await verifyVote({ vote, signature }, memberOf, VOTE.venue)).toBe("malformed");
  });

  test.each(["", "00", "zz".repeat(64), "00".repeat(64), "00".repeat(65)])(
    "signature %s: rejected",
    async (signature) => {
      expect(await verifyVote({ vote: VOTE, signature }, memberOf, VOTE.venue)).toBe(
        "invalid_signature",
      );
    },
  );
});

describe("keys", () => {
  test("the first key pair of RFC 8032", () => {
    expect(publicKeyHex(KEY)).toBe(PUBLIC);
    expect(publicKeyHex(publicKeyFromHex(PUBLIC))).toBe(PUBLIC);
  });

  test("a malformed private key: rejected without its text in the message", () => {
    expect(() => privateKeyFromSeed("secret")).toThrow(
      "an attestor's private key is 64 hex digits",
    );
  });
});
