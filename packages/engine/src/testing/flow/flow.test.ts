import { expect, test } from "vitest";
import { ReferenceVenue } from "../reference/venue.js";
import { batches } from "./flow.js";
import { applyBatch } from "./log-batch.js";

test("the same seed gives the same commands", () => {
  const streams = [1, 1, 2].map((seed) => {
    const venue = new ReferenceVenue();
    let text = "";
    for (const batch of batches("calm", seed, 500, venue)) {
      applyBatch(venue, batch);
      text += JSON.stringify(batch);
    }
    return text;
  });
  expect(streams[0]).toBe(streams[1]);
  expect(streams[0]).not.toBe(streams[2]);
});
