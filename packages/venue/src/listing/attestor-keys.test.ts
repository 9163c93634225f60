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
import { decodeListing, encodeListing, Listing } from "./listing.js";
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
  test("stand in the log from the beginning, and survive a restart without a word", async () => {
    const first = await TestVenue.open(folder, attested());
    expect(first.venue.listing.attestors).toEqual(KEYS);
    const before = first.venue.position;
    await first.venue.close();
    const second = await TestVenue.open(folder, attested());
    expect(second.venue.listing.attestors).toEqual(KEYS);
    // One Resume and no Configure.
    expect(second.venue.position).toBe(before + 1);
    await second.venue.close();
  });

  test("changed: a Configure tells, and the log holds both", async () => {
    const first = await TestVenue.open(folder, attested());
    const before = first.venue.position;
    await first.venue.close();
    const others = { ...KEYS, members: ["ab".repeat(32), "ef".repeat(32)] };
    const second = await TestVenue.open(folder, attested(others));
    expect(second.venue.listing.attestors).toEqual(others);
    expect(second.venue.position).toBe(before + 2);
    await second.venue.close();
  });

  test("that do not belong to the configuration: refused before anything is written", async () => {
    const open = (more: Partial<VenueOptions>) => Venue.open(testOptions(folder, more));
    const one = { ...KEYS, members: KEYS.members.slice(1) };
    await expect(open({ ...attested(), attestors: one })).rejects.toThrow(
      "2 attestors have 1 keys",
    );
    await expect(open({ attestors: KEYS })).rejects.toThrow("the dev attestor has no keys");
    const upper = { ...KEYS, members: ["AB".repeat(32), "cd".repeat(32)] };
    await expect(open({ ...attested(), attestors: upper })).rejects.toThrow("lower-case hex");
  });

  test("survive a snapshot; without them a listing is written as it always was", () => {
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
