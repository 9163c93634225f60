/**
 * The events of one command, as words. The log is reused: a reader takes what it needs before the
 * next command. Layout: kind number, then the kind's fields in the order of `EVENT_FIELDS`.
 */
import { EVENT_FIELDS, type EventKind, type VenueEvent } from "./events.js";

export const EVENT_KINDS = Object.keys(EVENT_FIELDS) as readonly EventKind[];
export const EVENT = Object.fromEntries(EVENT_KINDS.map((kind, i) => [kind, i])) as {
  readonly [K in EventKind]: number;
};
const FIELD_NAMES: readonly (readonly string[])[] = Object.values(EVENT_FIELDS);
/** Longer than any event. */
const HEADROOM = 32;

export class EventLog {
  words = new Float64Array(1 << 12);
  length = 0;

  reset(): void {
    this.length = 0;
  }

  /** Drops what came after `length`: the events of a command that was undone. */
  cutTo(length: number): void {
    this.length = length;
  }

  /** Reserves room for one event, writes its kind and answers where its fields begin. */
  open(kind: number, fields: number): number {
    const at = this.length;
    if (at + HEADROOM > this.words.length) this.grow();
    this.words[at] = kind;
    this.length = at + 1 + fields;
    return at + 1;
  }

  /** For events off the hot path. Adding 0 turns −0 into 0, which has other bytes. */
  emit(kind: number, ...fields: number[]): void {
    const at = this.open(kind, fields.length);
    for (let i = 0; i < fields.length; i++) this.words[at + i] = fields[i]! + 0;
  }

  /** The canonical bytes of the command's events: little-endian doubles. */
  bytes(): Uint8Array {
    return new Uint8Array(this.words.buffer, 0, this.length * 8);
  }

  decode(): VenueEvent[] {
    return decodeEvents(this.words, this.length);
  }

  private grow(): void {
    const words = new Float64Array(this.words.length * 2);
    words.set(this.words);
    this.words = words;
  }
}

export function decodeEvents(words: Float64Array, length: number): VenueEvent[] {
  const events: VenueEvent[] = [];
  let at = 0;
  while (at < length) {
    const code = words[at]!;
    const names = FIELD_NAMES[code]!;
    const event: Record<string, string | number> = { kind: EVENT_KINDS[code]! };
    for (let i = 0; i < names.length; i++) event[names[i]!] = words[at + 1 + i]!;
    events.push(event as unknown as VenueEvent);
    at += 1 + names.length;
  }
  return events;
}

export function isKind<K extends EventKind>(
  event: VenueEvent,
  kind: K,
): event is Extract<VenueEvent, { kind: K }> {
  return event.kind === kind;
}
