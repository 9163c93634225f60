/** The writers and where sessions are connected as bytes: writers by joining, the rest ascending. */
import { ASK_TICKS, ASKS_MISSED, MAX_LIVE_WRITERS, TICKS_MISSED } from "../config.js";
import type { VenueState } from "../state/venue.js";
import { FORMER_PLACE, UNLIMITED_TICKS, type Writer } from "../state/writers.js";
import type { StateReader, StateWriter } from "./bytes.js";

export function writeWriters(w: StateWriter, s: VenueState): void {
  const { writers } = s;
  const sessions = s.sessions.all().map(({ number }) => number);
  w.number(writers.live.length);
  for (const writer of writers.live) {
    w.numbers([
      writer.number,
      ...writer.versions,
      writer.counter,
      writer.ticksMissed,
      writer.isHeard ? 1 : 0,
      writer.askMs,
      writer.askTicks,
    ]);
    w.texts([writer.id, writer.name, writer.receiptKey, writer.certificate]);
    w.numbers([...writer.asksOfOthers].sort(([a], [b]) => a - b).flat());
    w.numbers(sessions.filter((number) => s.sessions.presence.isAt(number, writer.place)));
  }
  w.texts([...writers.ids].sort());
  w.text(writers.current);
  w.numbers([writers.isJoining ? 1 : 0, writers.ticksLeft]);
  if (!s.rules.hasLeader) return;
  w.numbers([writers.epoch, writers.epochTicks, writers.switchesHeldMs]);
  const isFormer = (number: number): boolean => s.sessions.presence.isAt(number, FORMER_PLACE);
  w.numbers(writers.isReturning ? sessions.filter(isFormer) : []);
}

/** Sessions are read already. */
export function readWriters(r: StateReader, s: VenueState): void {
  const { writers } = s;
  let last = 0;
  r.repeat(() => {
    const [number, oldest, newest, counter, missed, heard, askMs, askTicks] = r.numbers();
    const [id, name, receiptKey, certificate] = r.texts();
    check(writers.live.length < MAX_LIVE_WRITERS, "too many writers");
    check(Number.isSafeInteger(number) && number! > last && number! <= s.seq, "a writer's number");
    check(writers.get(id!) === undefined && writers.named(name!) === undefined, "a writer twice");
    check(isCount(counter, Number.MAX_SAFE_INTEGER), "a writer's counter");
    check(isCount(missed, TICKS_MISSED - 1) && isCount(heard, 1), "a writer's ticks");
    check(isCount(askMs, Number.MAX_SAFE_INTEGER) && isCount(askTicks, ASK_TICKS), "an ask");
    last = number!;
    const versions = [oldest!, newest!] as const;
    const terms = { writer: id!, name: name!, versions, receiptKey: receiptKey! };
    const writer = writers.join(number!, { ...terms, certificate: certificate! });
    writer.counter = counter!;
    writer.ticksMissed = missed!;
    writer.isHeard = heard === 1;
    writer.askMs = askMs!;
    writer.askTicks = askTicks!;
    readAsks(r.numbers(), writer);
    readPresence(r.numbers(), s, writer.place);
  });
  let previous = "";
  for (const id of r.texts()) {
    check(id > previous, "ids of writers must rise");
    writers.ids.add(id);
    previous = id;
  }
  check(
    writers.live.every(({ id }) => writers.ids.has(id)),
    "a writer's id is not known",
  );
  writers.current = r.text();
  const [joining, ticksLeft] = r.numbers();
  check(isCount(joining, 1), "neither joining nor not");
  check(ticksLeft === UNLIMITED_TICKS || isCount(ticksLeft, 1), "ticks of a batch");
  writers.isJoining = joining === 1;
  writers.ticksLeft = ticksLeft!;
  if (s.rules.hasLeader) readEpoch(r, s);
}

function readEpoch(r: StateReader, s: VenueState): void {
  const { writers } = s;
  const [epoch, ticks, heldMs] = r.numbers();
  check(isCount(epoch, Number.MAX_SAFE_INTEGER) && isCount(ticks, TICKS_MISSED), "an epoch");
  check(isCount(heldMs, s.lastTickMs), "the time of held switches");
  check(epoch === 0 || writers.live.length === 1, "a core that leads");
  writers.epoch = epoch!;
  writers.epochTicks = ticks!;
  writers.switchesHeldMs = heldMs!;
  const former = r.numbers();
  check(former.length === 0 || writers.isReturning, "connections of before");
  if (writers.isReturning) readPresence(former, s, FORMER_PLACE);
}

function readAsks(asks: readonly number[], writer: Writer): void {
  let last = 0;
  for (let i = 0; i < asks.length; i += 2) {
    check(asks[i]! > last && isCount(asks[i + 1], ASKS_MISSED - 1), "asks of others");
    last = asks[i]!;
    writer.asksOfOthers.set(last, asks[i + 1]!);
  }
}

function readPresence(sessions: readonly number[], s: VenueState, place: number): void {
  let last = 0;
  for (const number of sessions) {
    check(number > last && s.sessions.find(number) !== undefined, "a connected session");
    s.sessions.presence.connect(number, place);
    last = number;
  }
}

function isCount(value: number | undefined, most: number): boolean {
  return Number.isSafeInteger(value) && value! >= 0 && value! <= most;
}

function check(isSound: boolean, what: string): void {
  if (!isSound) throw new RangeError(`${what}: damaged`);
}
