/** "Writers": which batches are applied, joins and ends, and time jumps. */
import {
  type AskTime,
  type Command,
  type CoreLeads,
  GENESIS_WRITER,
  type SessionConnected,
  type SessionDisconnected,
  type WriterJoined,
} from "../../commands.js";
import { MAX_LEAD_MS, TICK_MS } from "../../config.js";
import { END, WRITER_END, type WriterEnd } from "../../reasons.js";
import type { DropReason } from "../../state/writers.js";
import { disconnect, newDisconnects } from "./disconnects.js";
import { emit, settleEvents } from "./end-events.js";
import { loseNow } from "./over.js";
import { type Refused, refused } from "./refusal.js";
import { liveSession, ordersOf } from "./sessions.js";
import { endOrders } from "./settle.js";
import { isReturning, rulesOf, type Session, type State, type Writer } from "./state.js";

const TICKS_UNTIL_GONE = 25;
const ASKS_UNTIL_GONE = 5;
const TICKS_OF_AN_ASK = 10;
const MOST_WRITERS = 64;

/** Why the batch is dropped, or null. */
export function acceptBatch(
  state: State,
  id: string,
  counter: number,
  commands: readonly Command[],
): DropReason | null {
  const live = state.writers.find((writer) => writer.id === id);
  const dropped = whyDropped(state, live, id, counter, commands);
  if (dropped !== null) return dropped;
  if (live !== undefined) {
    live.counter = counter;
    live.hasWritten = true;
    live.missed = 0;
    live.asks.clear();
  } else if (id !== GENESIS_WRITER && state.epoch === 0) state.writerIds.add(id);
  state.writing = id;
  state.isJoining = live === undefined;
  state.ticksOfBatch = 0;
  return null;
}

function whyDropped(
  state: State,
  live: Writer | undefined,
  id: string,
  counter: number,
  commands: readonly Command[],
): DropReason | null {
  if (!state.started) {
    const begins = id === GENESIS_WRITER && counter === 0 && commands[0]?.kind === "Genesis";
    return begins ? null : "not_started";
  }
  const [claim] = commands;
  if (claim?.kind === "CoreLeads" && rulesOf(state).coresLead) {
    const isExact = commands.length === 1 && claim.run === id && claim.epoch === counter;
    if (!isExact || !/^[0-9a-f]{32}$/.test(id)) return "not_a_claim";
    return counter === state.epoch + 1 && live === undefined ? null : "not_leading";
  }
  if (state.epoch > 0) {
    return live !== undefined && counter === state.epoch ? null : "not_leading";
  }
  if (id === GENESIS_WRITER) return "already_started";
  if (live !== undefined) {
    if (counter === live.counter + 1) return null;
    return counter > live.counter ? "counter_gap" : "counter_passed";
  }
  if (state.writerIds.has(id)) return "writer_ended";
  if (counter !== 0) return "writer_unknown";
  const [join, ...more] = commands;
  if (join?.kind !== "WriterJoined" || more.length > 0) return "not_a_join";
  return join.writer === id && /^[0-9a-f]{32}$/.test(id) ? null : "not_a_join";
}

export function writerJoined(state: State, command: WriterJoined): Refused | null {
  if (!state.isJoining || state.writing !== command.writer) return refused("invalid_command");
  if (!isWellFormed(command)) return refused("invalid_command");
  const replaced = state.writers.filter(({ name }) => name === command.name);
  const others = state.writers.filter(({ name }) => name !== command.name);
  if (others.length >= MOST_WRITERS) return refused("too_many_writers", MOST_WRITERS);
  if (others.length === 0) for (const market of state.markets) market.awaits = state.time;
  endWriters(state, replaced, "replaced");
  state.isJoining = false;
  state.writers.push(newWriter(state, command.writer, command.name, command.versions));
  emit(state, {
    kind: "WriterJoined",
    writer: state.position,
    writers: state.writers.length,
  });
  return null;
}

export function coreLeads(state: State, command: CoreLeads): Refused | null {
  if (!state.isJoining || state.writing !== command.run) return refused("invalid_command");
  if (!isWellFormed({ ...command, name: command.core })) return refused("invalid_command");
  for (const market of state.markets) market.awaits = state.time;
  for (const { sessions } of state.writers) {
    for (const session of sessions) state.former.add(session);
  }
  if (state.epoch === 0) remove(state, state.writers, "replaced");
  if (!isReturning(state)) state.switchesHeld = state.lastTick;
  state.isJoining = false;
  state.epoch = command.epoch;
  state.epochTicks = 0;
  state.writerIds = new Set([command.run]);
  state.writers = [];
  state.writers.push(newWriter(state, command.run, command.core, command.versions));
  emit(state, { kind: "LeaderChanged", epoch: command.epoch, leader: state.position });
  return null;
}

function newWriter(
  { position }: State,
  id: string,
  name: string,
  versions: readonly [number, number],
): Writer {
  const heard = { counter: 0, hasWritten: true, missed: 0, ask: null, asks: new Map() };
  return { number: position, id, name, versions, ...heard, sessions: new Set() };
}

function isWellFormed({
  name,
  versions,
  receiptKey,
  certificate,
}: Pick<WriterJoined, "name" | "versions" | "receiptKey" | "certificate">): boolean {
  const [oldest, newest] = versions;
  return (
    name.length >= 1 &&
    name.length <= 64 &&
    [...name].every((letter) => "abcdefghijklmnopqrstuvwxyz0123456789-".includes(letter)) &&
    versions.every((version) => Number.isSafeInteger(version) && version >= 0) &&
    oldest <= newest &&
    (receiptKey === "" || /^[0-9a-f]{64}$/.test(receiptKey)) &&
    (certificate === "" || /^[0-9a-f]{128}$/.test(certificate))
  );
}

export function writerLeft(state: State): Refused | null {
  const writer = writing(state);
  if (writer === undefined) return refused("writer_not_live");
  if (state.epoch > 0) return refused("invalid_command");
  endWriters(state, [writer], "left");
  return null;
}

function writing(state: State): Writer | undefined {
  return state.writers.find(({ id }) => id === state.writing);
}

/** Ends writers outside of a tick: cancels, then the events of the ends. */
function endWriters(state: State, writers: readonly Writer[], reason: WriterEnd): void {
  if (writers.length === 0) return;
  const before = { fund: state.fund, fees: state.fees };
  newDisconnects(state);
  if (rulesOf(state).endsInRounds) loseNow(state, withoutThem(state, writers));
  else disconnect(state, withoutThem(state, writers));
  settleEvents(state, before);
  remove(state, writers, reason);
}

/** Sessions with the option on that are connected, and only at these writers. */
function withoutThem(state: State, ending: readonly Writer[]): Session[] {
  const staying = state.writers.filter((writer) => !ending.includes(writer));
  return [...state.sessions.values()]
    .filter(({ cancelOnDisconnect }) => cancelOnDisconnect)
    .filter(({ number }) => ending.some(({ sessions }) => sessions.has(number)))
    .filter(({ number }) => !staying.some(({ sessions }) => sessions.has(number)))
    .sort((a, b) => a.number - b.number);
}

function remove(state: State, writers: readonly Writer[], reason: WriterEnd): void {
  for (const writer of writers) {
    state.writers = state.writers.filter((each) => each !== writer);
    emit(state, { kind: "WriterEnded", writer: writer.number, reason: WRITER_END[reason] });
  }
}

/** Writers that the present tick is one too many for. */
function goneNow(state: State): Writer[] {
  return state.writers.filter(
    ({ hasWritten, missed }) => !hasWritten && missed + 1 === TICKS_UNTIL_GONE,
  );
}

/** A tick's first phase: what is carried over, and what writers that are gone leave behind. */
export function tickDisconnects(state: State): void {
  newDisconnects(state);
  disconnect(state, withoutThem(state, goneNow(state)));
  if (isLastTickOfReturn(state)) disconnect(state, notBack(state));
}

/** Those of the former with the option on that the core that leads does not know. */
function notBack(state: State): Session[] {
  return [...state.sessions.values()]
    .filter(({ number, cancelOnDisconnect }) => cancelOnDisconnect && state.former.has(number))
    .filter(({ number }) => !state.writers.some(({ sessions }) => sessions.has(number)))
    .sort((a, b) => a.number - b.number);
}

function isLastTickOfReturn(state: State): boolean {
  return isReturning(state) && state.epochTicks === TICKS_UNTIL_GONE - 1;
}

/** At the end of a tick. */
export function tickWriters(state: State): void {
  if (isLastTickOfReturn(state)) state.former.clear();
  if (isReturning(state)) state.epochTicks += 1;
  remove(state, goneNow(state), "gone");
  for (const writer of state.writers) {
    if (!writer.hasWritten) writer.missed += 1;
    writer.hasWritten = false;
    if (writer.ask === null) continue;
    writer.ask.ticks += 1;
    const isOld = writer.ask.ticks > TICKS_OF_AN_ASK;
    if (isOld || writer.ask.time <= state.lastTick) writer.ask = null;
  }
}

export function askTime(state: State, { stampMs }: AskTime): Refused | null {
  const asking = writing(state);
  if (asking === undefined) return refused("writer_not_live");
  for (const other of state.writers) {
    if (other !== asking) other.asks.set(asking.number, (other.asks.get(asking.number) ?? 0) + 1);
  }
  const silent = ({ asks }: Writer): boolean => (asks.get(asking.number) ?? 0) >= ASKS_UNTIL_GONE;
  endWriters(state, state.writers.filter(silent), "gone");
  asking.ask = { time: stampMs, ticks: 0 };

  const times = state.writers.flatMap(({ ask }) => (ask === null ? [] : [ask.time]));
  const reached = times.filter((time) => {
    const askers = times.filter((each) => each >= time).length;
    return askers * 2 > state.writers.length;
  });
  const target = Math.max(0, ...reached);
  if (target < state.lastTick + MAX_LEAD_MS) return null;
  const fromMs = state.lastTick;
  state.time = target;
  state.lastTick = target - (target % TICK_MS);
  for (const writer of state.writers) writer.ask = null;
  for (const market of state.markets) market.awaits = state.time;
  emit(state, { kind: "TimeJumped", fromMs, toMs: target });
  return null;
}

export function sessionConnected(state: State, command: SessionConnected): Refused | null {
  const writer = writing(state);
  if (writer === undefined) return refused("writer_not_live");
  const session = liveSession(state, command.session);
  if ("refusal" in session) return session;
  writer.sessions.add(session.number);
  return null;
}

export function sessionDisconnected(state: State, command: SessionDisconnected): void {
  const writer = writing(state);
  if (writer?.sessions.delete(command.session) !== true) return;
  if (state.writers.some(({ sessions }) => sessions.has(command.session))) return;
  if (state.former.has(command.session)) return;
  const session = liveSession(state, command.session);
  if ("refusal" in session || !session.cancelOnDisconnect) return;
  const before = { fund: state.fund, fees: state.fees };
  const count = endOrders(state, ordersOf(state, session), END.disconnected);
  settleEvents(state, before);
  emit(state, { kind: "AllCanceled", account: session.account, count });
}
