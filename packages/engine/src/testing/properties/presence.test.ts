/** Where sessions are connected, against plain sets. */
import { Random } from "@perpgate/protocol/random";
import { expect, test } from "vitest";
import { IdIndex } from "../../state/id-index.js";
import { Places, Presence, WRITER_PLACES } from "../../state/presence.js";
import { SessionBook } from "../../state/sessions.js";

const SESSIONS = 30;

test.each([1, 2, 3])("seed %i: every answer is that of sets", (seed) => {
  const random = new Random(seed, "presence");
  const rows = new IdIndex();
  const presence = new Presence(rows);
  const sets = new Map<number, Set<number>>();
  const somewhere = (): number => random.pick([0, 1, 31, 32, 33, 63, random.int(0, 63)]);
  for (let step = 0; step < 3_000; step++) {
    const session = random.int(1, SESSIONS);
    const places = sets.get(session);
    const place = somewhere();
    const act = random.weighted({ connect: 10, disconnect: 5, end: 0.5, clear: 0.3 });
    if (act === "connect") {
      // Rows are used again by other sessions.
      if (places === undefined) rows.set(session, SESSIONS - session);
      sets.set(session, (places ?? new Set()).add(place));
      presence.connect(session, place);
    }
    if (act === "disconnect") {
      places?.delete(place);
      presence.disconnect(session, place);
    }
    if (act === "end" && places !== undefined) {
      presence.forget(rows.get(session));
      rows.delete(session);
      sets.delete(session);
    }
    if (act === "clear") {
      for (const each of sets.values()) each.delete(place);
      presence.clear(place);
    }
    compare(presence, sets, random);
  }
});

function compare(
  presence: Presence,
  sets: ReadonlyMap<number, ReadonlySet<number>>,
  random: Random,
): void {
  const asked = new Places();
  const among = new Set(Array.from({ length: 5 }, () => random.int(0, WRITER_PLACES - 1)));
  for (const place of among) asked.add(place);
  const counts = new Array<number>(WRITER_PLACES).fill(0);
  for (let session = 1; session <= SESSIONS; session++) {
    const places = [...(sets.get(session) ?? [])];
    for (const place of places) counts[place]!++;
    const isOnly = places.length > 0 && places.every((place) => among.has(place));
    const kept = [presence.isConnected(session), presence.isOnlyAt(session, asked)];
    if (kept[0] !== places.length > 0 || kept[1] !== isOnly) {
      expect(kept, `session ${session}`).toEqual([places.length > 0, isOnly]);
    }
  }
  const kept = counts.map((_, place) => presence.countAt(place));
  if (kept.join() !== counts.join()) expect(kept).toEqual(counts);
}

test.each([1, 2, 3])(
  "seed %i: lost sessions, by account and number, whatever their rows",
  (seed) => {
    const random = new Random(seed, "lost sessions");
    const book = new SessionBook();
    const open: { account: number; number: number; isLost: boolean }[] = [];
    for (let number = 1; number <= 400; number++) {
      if (open.length > 0 && random.chance(0.4)) {
        const [ended] = open.splice(random.int(0, open.length - 1), 1);
        book.close(ended!.number);
      }
      const account = random.int(1, 12);
      const cancelOnDisconnect = random.chance(0.7);
      book.open({
        number,
        account,
        key: "key",
        tokenHash: `token ${number}`,
        expiresAtMs: 1,
        maxOrderNotionalMicros: 0,
        maxNotionalMicros: 0,
        markets: null,
        cancelOnDisconnect,
      });
      const at = [3, 40, 50].filter(() => random.chance(0.5));
      for (const place of at) book.presence.connect(number, place);
      const isOnlyThere = at.length > 0 && !at.includes(50);
      open.push({ account, number, isLost: cancelOnDisconnect && isOnlyThere });
    }
    const places = new Places();
    places.add(3);
    places.add(40);
    const lost = open.filter(({ isLost }) => isLost);
    lost.sort((a, b) => a.account - b.account || a.number - b.number);
    const most = book.presence.countAt(3) + book.presence.countAt(40);
    const expected = lost.flatMap(({ account, number }) => [account, number]);
    expect([...book.losing(places, most)]).toEqual(expected);
  },
);
