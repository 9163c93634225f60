import { sign } from "node:crypto";
import { privateKeyFromSeed, RemoteVenue } from "@perpgate/bridge";
import { fieldsOf, Trader } from "@perpgate/gateway/testing";
import { NO_EVIDENCE } from "@perpgate/venue";
import { describe, expect, test } from "vitest";
import { type AttestedVenue, MEMBERS, registered, SEEDS } from "./testing/attested-venue.js";

const STRANGER = "66".repeat(32);

describe("the attestors' queue", () => {
  const ask = async (venue: AttestedVenue, changes: object = {}, seed = SEEDS[1]!) => {
    const body = JSON.stringify({
      venue: venue.venueId,
      attestor: 1,
      chain: "ethereum",
      queue: "pending",
      order: "ascending",
      after: "0",
      since: 0,
      time: venue.at.nowMs(),
      ...changes,
    });
    const signature = sign(null, Buffer.from(body), privateKeyFromSeed(seed)).toString("hex");
    return venue.post("/v1/bridge/queue", body, { "x-service-sig": signature });
  };

  const remote = ({ at }: AttestedVenue): RemoteVenue => {
    const keys = new Map([[1, privateKeyFromSeed(SEEDS[1]!)]]);
    return new RemoteVenue({ urls: [at.url], keys, clock: () => at.nowMs(), timeoutMs: 10_000 });
  };

  test("a page: for members only, valid for a minute", async () => {
    const { venue, depositId } = await registered();
    expect((await ask(venue)).body).toMatchObject({
      deposits: [{ depositId: String(depositId), status: "queued", ownVote: null }],
      next: null,
    });
    expect((await ask(venue, { after: String(depositId) })).body).toMatchObject({ deposits: [] });
    expect((await ask(venue, { chain: "tron" })).body).toMatchObject({ deposits: [] });
    const refusals: [object, string | undefined, string][] = [
      [{}, STRANGER, "invalid_signature"],
      [{}, SEEDS[0], "invalid_signature"],
      [{ attestor: 7 }, undefined, "attestor_unknown"],
      [{ time: venue.at.nowMs() - 61_000 }, undefined, "attestor_request_outdated"],
      [{ time: venue.at.nowMs() + 61_000 }, undefined, "attestor_request_outdated"],
      [{ venue: STRANGER }, undefined, "attestor_request_outdated"],
      [{ queue: "all" }, undefined, "invalid_request"],
    ];
    for (const [changes, seed, code] of refusals) {
      expect((await ask(venue, changes, seed)).body.code).toBe(code);
    }
    const unsigned = await venue.post("/v1/bridge/queue", JSON.stringify({}));
    expect(unsigned.body.code).toBe("invalid_request");
  });

  test("a deposit that is credited in part: with the log after which the next part begins", async () => {
    const { venue, depositId, credits } = await registered();
    for (const attestor of [0, 1]) {
      await venue.submit(await venue.vote({ attestor, depositId, credits, part: 1, parts: 2 }));
    }
    const logIndex = credits[0]?.logIndex;
    expect((await ask(venue)).body).toMatchObject({
      deposits: [{ status: "confirming", creditedParts: 1, lastCreditedLog: logIndex }],
    });
    const port = remote(venue);
    await port.terms();
    const page = await port.pending("ethereum", 1, "ascending", 0);
    expect(page.rows).toMatchObject([{ creditedParts: 1, lastCreditedLog: logIndex }]);
  });

  test("1,200 pending: in pages of 500 from either end, every deposit once", async () => {
    const { venue, depositId } = await registered();
    // An account may have a hundred that nobody has seen.
    const sessions: number[] = [];
    for (let i = 0; i < 12; i++) {
      const { token } = await Trader.enter(venue.at);
      sessions.push(Number(token.split(".")[1]));
    }
    const positions = Array.from({ length: 1_199 }, (_, i) => {
      const registration = {
        kind: "RegisterDeposit",
        stampMs: venue.at.nowMs(),
        session: sessions[i % sessions.length]!,
        chain: "ethereum",
        txHash: i.toString(16).padStart(64, "0"),
        token: "USDC",
      } as const;
      return venue.at.venue.submitted(registration, NO_EVIDENCE, ({ seq }) => seq);
    });
    const ids = [depositId, ...(await Promise.all(positions))];
    for (const order of ["ascending", "descending"]) {
      const found: number[] = [];
      const sizes: number[] = [];
      for (let after: unknown = "0"; after !== null; ) {
        const { body } = await ask(venue, { order, after });
        const page = Array.isArray(body.deposits) ? body.deposits.map(fieldsOf) : [];
        found.push(...page.map((row) => Number(row.depositId)));
        sizes.push(page.length);
        after = body.next;
      }
      expect(sizes).toEqual([500, 500, 200]);
      expect(found).toEqual(order === "ascending" ? ids : [...ids].reverse());
    }
  }, 60_000);

  test("reads used up: the attestor's three requests go on", async () => {
    const limits = { readsPerSecond: 0.001, readsBurst: 1 };
    const { venue, trader, depositId } = await registered(undefined, limits);
    expect((await trader.get("/v1/bridge")).status).toBe(200);
    expect((await trader.get("/v1/bridge")).status).toBe(429);
    const port = remote(venue);
    expect(await port.terms()).toMatchObject({ venueId: venue.venueId, members: MEMBERS });
    expect((await port.pending("ethereum", 1, "ascending", 0)).rows).toHaveLength(1);
    expect(await port.submit([await venue.vote({ attestor: 1, depositId })])).toEqual([null]);
  });

  test("100 unknown hashes of one account: the next is refused, until one is seen", async () => {
    const { venue, trader, depositId } = await registered();
    const hash = (i: number) => i.toString(16).padStart(64, "0");
    const first = Array.from({ length: 99 }, (_, i) => venue.register(trader, hash(i + 1)));
    for (const { status } of await Promise.all(first)) expect(status).toBe(202);
    const refused = await venue.register(trader, hash(100));
    expect(refused).toMatchObject({ status: 429, body: { code: "too_many_unseen_deposits" } });
    // Hashes registered before stay readable, and other accounts are not affected.
    expect((await venue.register(trader, hash(1))).status).toBe(202);
    const other = await Trader.enter(venue.at);
    expect((await venue.register(other, hash(100))).status).toBe(202);
    await venue.submit(await venue.vote({ depositId, verdict: "confirming", confirmations: 1 }));
    expect((await venue.register(trader, hash(101))).status).toBe(202);
    const after = await venue.register(trader, hash(102));
    expect(after.body.code).toBe("too_many_unseen_deposits");
  });

  test("the public part: where deposits go and who attests them", async () => {
    const { venue, trader } = await registered();
    expect((await trader.get("/v1/bridge")).body).toMatchObject({
      venueId: venue.venueId,
      keys: [{ position: "1", members: MEMBERS, quorum: 2 }],
      paused: [],
      attestor: "chain",
      venue: "test-venue",
      members: MEMBERS,
      quorum: 2,
      chains: [
        { chain: "ethereum", chainId: 1, confirmations: 64, finality: "finalized", minDeposit: 1 },
      ],
    });
  });
});
