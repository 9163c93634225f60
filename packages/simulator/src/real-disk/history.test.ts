/**
 * The history is derived: with a log of any time and a history that is gone or behind it, a venue
 * shows what one shows that made its history from that log alone. A history that is ahead of its log
 * shows that the log has lost its end: the start is refused, and once the loss is accepted the venue
 * shows what the log has.
 */

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { verify } from "@perpgate/venue";
import { expect, test } from "vitest";
import { START_MS } from "../listing.js";
import { digestOf, everythingShown } from "./everything-shown.js";
import { openVenue, TRADERS, VenueStory } from "./venue-story.js";

const SEEDS = Number(process.env.PERPGATE_HISTORY_SEEDS ?? 1);
const LIVES = 3;
const LATER = { clock: () => START_MS + 86_400_000 };

/** Opens the folder once more and takes down everything it shows. */
async function shownBy(folder: string, acceptLoss = false): Promise<object> {
  const venue = await openVenue(folder, { ...LATER, acceptLoss });
  try {
    return await everythingShown(venue, TRADERS);
  } finally {
    await venue.close();
  }
}

async function withoutSnapshots(folder: string): Promise<string> {
  const journal = join(folder, "journal");
  for (const name of await readdir(journal)) {
    if (name.endsWith(".snapshot")) await rm(join(journal, name));
  }
  return folder;
}

test.each(Array.from({ length: SEEDS }, (_, index) => index + 1))(
  "history of another time, seed %i: the same is shown, and the log verifies",
  { timeout: 400_000 },
  async (seed) => {
    const story = await VenueStory.begin(seed);
    try {
      const lives: string[] = [];
      for (let life = 0; life < LIVES; life++) lives.push(await story.live());
      for (const [at, log] of lives.entries()) {
        const bare = await withoutSnapshots(await story.compose(log, undefined));
        const expected = await shownBy(bare);
        for (const history of [undefined, ...lives]) {
          const folder = await story.compose(log, history);
          const isAhead = history !== undefined && lives.indexOf(history) > at;
          if (isAhead) await expect(shownBy(folder)).rejects.toMatchObject({ code: "log_behind" });
          const shown = await shownBy(folder, isAhead);
          if (digestOf(shown) !== digestOf(expected)) expect(shown).toEqual(expected);
          expect(await verify(folder)).toMatchObject({ fault: null, from: 0 });
        }
      }
    } finally {
      await story.end();
    }
  },
);
