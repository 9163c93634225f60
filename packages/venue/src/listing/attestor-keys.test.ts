import { Engine } from "@perpgate/engine";
import { addressOf, creditVote, genesis } from "@perpgate/engine/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  decodeReplicaState,
  encodeReplicaState,
  newReplicaState,
} from "../recovery/replica-state.js";
import {
  removeFolder,
  TEST_MARKETS,
  TestVenue,
  temporaryFolder,
  testOptions,
} from "../testing/test-venue.js";
import { Venue } from "../venue.js";
import type { VenueOptions } from "../venue-options.js";
import { verify } from "../verify/verify.js";
import { type AttestorKeys, movedChains } from "./attestor-keys.js";
import { decodeListing, encodeListing, Listing, listingEvidence } from "./listing.js";
import { DEFAULT_PARAMETERS, venueConfigOf } from "./venue-config.js";

const KEYS = { venue: "test-venue", members: ["ab".repeat(32), "cd".repeat(32)] };

function attested(attestors = KEYS): Partial<VenueOptions> {
  const config = venueConfigOf(TEST_MARKETS, {
    ...DEFAULT_PARAMETERS,
    attestorKind: "chain",
    attestors: attestors.members.length,
    attestorQuorum: 2,
    devCredit: 0,
  });
  return { config, attestors };
}

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

describe("attestors' keys", () => {
  test("are in the log from Genesis on, and a restart appends no Configure", async () => {
    const first = await TestVenue.open(folder, attested());
    expect(first.venue.listing.attestors).toEqual(KEYS);
    const before = first.venue.seq;
    await first.venue.close();
    const second = await TestVenue.open(folder, attested());
    expect(second.venue.listing.attestors).toEqual(KEYS);
    // WriterLeft, WriterJoined, and no Configure.
    expect(second.venue.seq).toBe(before + 2);
    await second.venue.close();
  });

  test("changed: a Configure is appended, and the log has both sets", async () => {
    const first = await TestVenue.open(folder, attested());
    const before = first.venue.seq;
    await first.venue.close();
    const others = { ...KEYS, members: ["ab".repeat(32), "ef".repeat(32)] };
    const second = await TestVenue.open(folder, attested(others));
    expect(second.venue.listing.attestors).toEqual(others);
    // WriterLeft, WriterJoined, Configure.
    expect(second.venue.seq).toBe(before + 3);
    await second.venue.close();
  });

  test("that do not fit the configuration: refused before anything is written", async () => {
    const open = (more: Partial<VenueOptions>) => Venue.open(testOptions(folder, more));
    const one = { ...KEYS, members: KEYS.members.slice(1) };
    await expect(open({ ...attested(), attestors: one })).rejects.toThrow(
      "2 attestors have 1 keys",
    );
    await expect(open({ attestors: KEYS })).rejects.toThrow("the dev attestor has no keys");
    const upper = { ...KEYS, members: ["AB".repeat(32), "cd".repeat(32)] };
    await expect(open({ ...attested(), attestors: upper })).rejects.toThrow("lower-case hex");
  });

  test("survive a snapshot; without them the listing's format is unchanged", () => {
    const state = { ...newReplicaState(), listing: new Listing(TEST_MARKETS, KEYS) };
    const bytes = Buffer.concat(encodeReplicaState(state, state.engine.snapshot()));
    const { listing } = decodeReplicaState(bytes);
    expect(listing.attestors).toEqual(KEYS);
    expect(listing.named("ETHUSD")?.number).toBe(1);
    expect(encodeListing(TEST_MARKETS)).toMatch(/^\[\{"symbol":"BTCUSD"/);
    expect(decodeListing(encodeListing(TEST_MARKETS)).attestors).toBeNull();
    for (const text of ["{}", "1", "null", '{"markets":[],"attestors":{"venue":1,"members":[]}}']) {
      expect(() => decodeListing(text)).toThrow("not a list");
    }
  });
});

describe("the history of attestors", () => {
  const OTHERS = { ...KEYS, members: ["ab".repeat(32), "ef".repeat(32)] };

  test("changed keys: each set with its first seq, also after restarts", async () => {
    const first = await TestVenue.open(folder, attested());
    const { venueId } = first.venue.listing.attestorHistory!;
    expect(venueId).toMatch(/^[0-9a-f]{64}$/);
    const genesis = { position: 1, members: KEYS.members, quorum: 2 };
    expect(first.venue.listing.attestorHistory?.entries).toEqual([genesis]);
    await first.venue.close();
    const second = await TestVenue.open(folder, attested(OTHERS));
    // After Genesis, WriterJoined, WriterLeft, WriterJoined.
    const entries = [genesis, { position: 5, members: OTHERS.members, quorum: 2 }];
    expect(second.venue.listing.attestorHistory).toEqual({ venueId, entries });
    await second.venue.close();
    const third = await TestVenue.open(folder, attested(OTHERS));
    expect(third.venue.listing.attestorHistory).toEqual({ venueId, entries });
    await third.venue.close();
  });

  test("two venues of one name: two ids", async () => {
    const other = await temporaryFolder();
    const ids: (string | undefined)[] = [];
    for (const [directory, startMs] of [
      [folder, 1_800_000_000_000],
      [other, 1_800_000_000_001],
    ] as const) {
      const driver = await TestVenue.open(directory, { ...attested(), clock: () => startMs });
      ids.push(driver.venue.listing.attestorHistory?.venueId);
      await driver.venue.close();
    }
    await removeFolder(other);
    expect(ids[0]).not.toBe(ids[1]);
  });

  test("a snapshot of a chain venue without it: skipped, and the log is replayed", async () => {
    const driver = await TestVenue.open(folder, attested());
    const { listing } = driver.venue;
    const engine = new Engine();
    engine.apply(genesis(1, attested().config!));
    const state = { ...newReplicaState(), engine, listing: new Listing(TEST_MARKETS, KEYS) };
    const encoded = () => Buffer.concat(encodeReplicaState(state, engine.snapshot()));
    expect(() => decodeReplicaState(encoded())).toThrow("lacks the venue's id");
    state.listing.attestorHistory = listing.attestorHistory;
    expect(decodeReplicaState(encoded()).listing.attestorHistory).toEqual(listing.attestorHistory);
    await driver.venue.close();
  });
});

describe("votes when the attestors change", () => {
  const [first, second, third] = ["ab".repeat(32), "cd".repeat(32), "ef".repeat(32)] as const;
  const THREE = { venue: "test-venue", members: [first, second, third] };

  /** A venue of three whose attestors have voted to credit one deposit; returns its id. */
  async function votedOn(driver: TestVenue, voters: readonly number[]): Promise<number> {
    const stampMs = driver.venue.views.timeMs;
    const session = await driver.signIn(1);
    const registration = { session, chain: "ethereum", txHash: "1".repeat(64), token: "USDC" };
    const register = { kind: "RegisterDeposit", stampMs, ...registration } as const;
    const { seq } = await driver.submit(register);
    for (const attestor of voters) await vote(driver, seq, attestor);
    return seq;
  }

  function vote(driver: TestVenue, depositId: number, attestor: number, part = {}) {
    const stampMs = driver.venue.views.timeMs;
    const credits = [{ address: addressOf(1), amountMicros: 5e6, logIndex: 0 }];
    const votedAtMs = stampMs;
    return driver.submit(creditVote({ stampMs, attestor, depositId, votedAtMs, credits, ...part }));
  }

  const firstPending = ({ views }: Venue, attestor: number) =>
    views.attestation.pending("ethereum", attestor, "ascending", 0).rows[0];

  const ownVotes = ({ venue }: TestVenue) =>
    [0, 1, 2].map((each) => firstPending(venue, each)?.ownVote ?? null);

  test("replaced key: the old vote is dropped, and the new attestor can vote", async () => {
    const before = await TestVenue.open(folder, attested(THREE));
    const id = await votedOn(before, [1]);
    await before.venue.close();
    const replaced = { ...THREE, members: [first, "12".repeat(32), third] };
    const after = await TestVenue.open(folder, attested(replaced));
    expect(ownVotes(after)).toEqual([null, null, null]);
    await vote(after, id, 0);
    expect(after.venue.views.attestation.subject(id, 0)?.status).toBe("queued");
    await vote(after, id, 1);
    expect(after.venue.views.attestation.subject(id, 1)?.status).toBe("credited");
    await after.venue.close();
    expect((await verify(folder)).fault).toBeNull();
  });

  test("same keys, other parameters: every vote is kept", async () => {
    const before = await TestVenue.open(folder, attested(THREE));
    await votedOn(before, [1]);
    await before.venue.close();
    const { config, ...keys } = attested(THREE);
    const after = await TestVenue.open(folder, {
      ...keys,
      config: { ...config!, maxOpenOrders: 77 },
    });
    expect(ownVotes(after)).toMatchObject([null, { verdict: "credit" }, null]);
    await after.venue.close();
  });

  test("a smaller quorum: the deposit is settled when the venue opens", async () => {
    const { config, ...keys } = attested(THREE);
    const all = { ...keys, config: { ...config!, attestorQuorum: 3 } };
    const before = await TestVenue.open(folder, all);
    const id = await votedOn(before, [0, 2]);
    await before.venue.close();
    const after = await TestVenue.open(folder, attested(THREE));
    expect(firstPending(after.venue, 1)).toBeUndefined();
    const { rows } = after.venue.views.attestation.creditedSince("ethereum", 1, 0, 0);
    expect(rows).toMatchObject([{ depositId: id, credits: [{ amountMicros: 5e6 }] }]);
    await after.venue.close();
  });

  test("credited in part: among the credited ones, which are watched, also after a restart", async () => {
    const before = await TestVenue.open(folder, attested(THREE));
    const id = await votedOn(before, []);
    for (const attestor of [0, 1]) await vote(before, id, attestor, { part: 1, parts: 2 });
    const credited = ({ views }: Venue) => views.attestation.creditedSince("ethereum", 0, 1, 0);
    const row = { depositId: id, credits: [{ logIndex: 0 }], isMarked: false };
    expect(credited(before.venue).rows).toMatchObject([row]);
    const { timeMs } = before.venue.views;
    expect(credited(before.venue).rows[0]?.creditedAtMs).toBe(timeMs);
    await before.venue.close();
    const after = await TestVenue.open(folder, attested(THREE));
    expect(credited(after.venue).rows).toMatchObject([row]);
    const rest = { address: addressOf(1), amountMicros: 5e6, logIndex: 100 };
    const last = { part: 2, parts: 2, credits: [rest] };
    for (const attestor of [0, 1]) await vote(after, id, attestor, last);
    const both = { depositId: id, credits: [{ logIndex: 0 }, { logIndex: 100 }] };
    expect(credited(after.venue).rows).toMatchObject([both]);
    await after.venue.close();
  });

  test("verify: a Configure that does not name a changed key is a fault", async () => {
    const driver = await TestVenue.open(folder, attested(THREE));
    const { config } = attested(THREE);
    const replaced = { ...THREE, members: [first, second, "12".repeat(32)] };
    const stampMs = driver.venue.views.timeMs;
    const evidence = listingEvidence(TEST_MARKETS, replaced);
    const { seq } = await driver.submit(
      { kind: "Configure", stampMs, expiresAtMs: stampMs + 60_000, config: config! },
      evidence,
    );
    await driver.venue.close();
    const { fault } = await verify(folder);
    expect(fault).toEqual({
      position: seq,
      reason: "the keys of attestors change: 2; the command names nobody",
    });
  });
});

describe("chains that a configuration moves", () => {
  type Chains = NonNullable<AttestorKeys["chains"]>;
  const usdc = { token: "USDC", contract: "aa".repeat(20) } as const;
  const usdt = { token: "USDT", contract: "bb".repeat(20) } as const;
  const ethereum = {
    chain: "ethereum",
    chainId: 1,
    vault: "11".repeat(20),
    tokens: [usdc],
  } as const;
  const arbitrum = { ...ethereum, chain: "arbitrum", chainId: 42_161 } as const;
  const before = { ...KEYS, chains: [ethereum, arbitrum] };

  test.each<[string, Chains, string[]]>([
    ["nothing", [arbitrum, ethereum], []],
    ["a new token", [{ ...ethereum, tokens: [usdc, usdt] }, arbitrum], []],
    ["another vault", [{ ...ethereum, vault: "22".repeat(20) }, arbitrum], ["ethereum"]],
    ["another chain id", [ethereum, { ...arbitrum, chainId: 5 }], ["arbitrum"]],
    [
      "another contract",
      [{ ...ethereum, tokens: [{ ...usdc, contract: "cc" }] }, arbitrum],
      ["ethereum"],
    ],
    ["a token gone", [{ ...ethereum, tokens: [usdt] }, arbitrum], ["ethereum"]],
    ["a chain gone", [arbitrum], ["ethereum"]],
  ])("%s", (_, chains, moved) => {
    expect(movedChains(before, { ...KEYS, chains })).toEqual(moved);
  });

  test("without scopes afterwards all move; without any before, none", () => {
    expect(movedChains(before, KEYS)).toEqual(["ethereum", "arbitrum"]);
    expect(movedChains(before, null)).toEqual(["ethereum", "arbitrum"]);
    expect(movedChains(KEYS, before)).toEqual([]);
  });
});
