import { describe, expect, test } from "vitest";
import { BridgeControl } from "./bridge-control.js";
import { registered } from "./testing/attested-venue.js";

describe("operator controls", () => {
  test("pause: a vote to credit is refused before the log; resume: taken; the bridge info shows it", async () => {
    const { venue, trader, depositId, credits, balance } = await registered();
    const control = new BridgeControl(venue.at.venue);
    await control.change({ action: "pause", scope: "ethereum" });
    expect((await trader.get("/v1/bridge")).body).toMatchObject({ paused: ["ethereum"] });
    const votes = [];
    for (const attestor of [0, 1]) votes.push(await venue.vote({ depositId, attestor, credits }));
    const before = venue.at.venue.seq;
    expect((await venue.submit(...votes)).body).toEqual({
      refusals: ["deposits_paused", "deposits_paused"],
    });
    expect(venue.at.venue.seq).toBe(before);
    await control.change({ action: "resume", scope: "ethereum" });
    await venue.submit(...votes);
    expect(await balance()).toBe(40);
  });

  test("rejudge: a valid deposit that a wrong configuration rejected is credited", async () => {
    const { venue, depositId, credits, read, balance } = await registered();
    const control = new BridgeControl(venue.at.venue);
    await expect(control.change({ action: "rejudge", depositId })).rejects.toThrow("not rejected");
    const old = [];
    for (const attestor of [0, 1]) {
      const vote = { depositId, attestor, verdict: "reject", reason: "wrong_contract" } as const;
      old.push(await venue.vote(vote));
    }
    await venue.submit(...old);
    expect(await read()).toMatchObject({ status: "rejected", reason: "wrong_contract" });
    await venue.at.advance(1_000);
    await control.change({ action: "rejudge", depositId });
    expect((await venue.submit(...old)).body).toEqual({
      refusals: ["vote_outdated", "vote_outdated"],
    });
    for (const attestor of [0, 1]) {
      await venue.submit(await venue.vote({ depositId, attestor, credits }));
    }
    expect(await balance()).toBe(40);
  });

  test("commit: refused where the venue commits to nothing, before its log", async () => {
    const { venue } = await registered();
    const before = venue.at.venue.seq;
    await expect(new BridgeControl(venue.at.venue).change({ action: "commit" })).rejects.toThrow(
      "this venue commits to no reserves",
    );
    expect(venue.at.venue.seq).toBe(before);
  });

  test("settle: a reorganised credit is shown as settled to its owner", async () => {
    const { venue, trader, depositId, credits, read } = await registered();
    const control = new BridgeControl(venue.at.venue);
    for (const attestor of [0, 1]) {
      await venue.submit(await venue.vote({ depositId, attestor, credits }));
      await venue.submit(await venue.vote({ depositId, attestor, verdict: "reorged" }));
    }
    for (const attestor of [0]) {
      await venue.submit(await venue.vote({ depositId, attestor, verdict: "reorged" }));
    }
    expect(await read()).toMatchObject({ reorged: "transaction_gone", reorgSettled: false });
    const opening = () => trader.place(trader.limit("long", 64_000, { margin: 1, leverage: 10 }));
    expect(await opening()).toMatchObject({ status: 403, body: { code: "deposit_reorged" } });
    await control.change({ action: "settle", depositId });
    expect(await opening()).toMatchObject({ status: 200, body: { status: "resting" } });
    expect(await read()).toMatchObject({ reorged: "transaction_gone", reorgSettled: true });
    await expect(control.change({ action: "settle", depositId })).rejects.toThrow("settled before");
  });
});
