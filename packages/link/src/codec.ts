/**
 * Frames as bytes:
 *
 *   u32 length of what follows │ u16 type │ u32 epoch │ count position │ id, again, terms, notes │ fields
 *
 * A request has an id, says whether it was sent before, and has terms if it is unsigned; an answer and a refusal have the id of their request, and notes. What is wrong
 * with a frame is reported with the names of frame and field, and ends the link.
 */

import { FrameReader, FrameWriter, isU32, WrongValue } from "./bytes.js";
import {
  type AnswerBodies,
  type AnswerFrame,
  type Frame,
  LINK_REFUSAL,
  LINK_VERSION,
  type LinkEnd,
  MAX_EDGE_FRAME_BYTES,
  MAX_FRAME_BYTES,
  NOTES,
  NOTICES,
  type NoticeBodies,
  type NoticeFrame,
  type NoticeName,
  REFUSAL_TYPE,
  REQUESTS,
  type RequestBodies,
  type RequestFrame,
  type RequestName,
  type RequestTerms,
  type Stamp,
} from "./frames.js";
import { bytes, flag, type Kind } from "./kinds.js";

/** Bytes that are no frame of this version of the link, or of the other side. */
export class FrameRefused extends Error {
  override readonly name = "FrameRefused";
}

const LENGTH_BYTES = 4;

// Each as a mapped type, so that a name and its fields stay together in a generic function.
const NOTICE_RULES: { readonly [N in NoticeName]: Rule<NoticeBodies[N]> } = NOTICES;
const REQUEST_RULES: { readonly [N in RequestName]: Rule<RequestBodies[N]> } = REQUESTS;
const ANSWER_KINDS: { readonly [N in RequestName]: { readonly answer: Kind<AnswerBodies[N]> } } =
  REQUESTS;

interface Rule<B> {
  readonly type: number;
  readonly body: Kind<B>;
}

const NOTICE_NAMES = namesByType<NoticeName>(NOTICE_RULES);
const REQUEST_NAMES = namesByType<RequestName>(REQUEST_RULES);

const IS_UNSIGNED: ReadonlySet<string> = new Set(
  Object.entries(REQUESTS).flatMap(([name, { isUnsigned }]) => (isUnsigned ? [name] : [])),
);
const REQUEST_ID_BYTES = 16;
const REQUEST_ID = bytes(REQUEST_ID_BYTES);

function writeTerms(to: FrameWriter, terms: RequestTerms | undefined): void {
  if (terms === undefined) throw new WrongValue(".terms are missing");
  REQUEST_ID.write(to, Buffer.from(terms.id, "hex"));
  to.count(terms.notAfterMs);
}

function readTerms(from: FrameReader): RequestTerms {
  const id = Buffer.from(REQUEST_ID.read(from));
  if (id.length !== REQUEST_ID_BYTES) throw new WrongValue(`.terms.id has ${id.length} bytes`);
  return { id: id.toString("hex"), notAfterMs: from.count() };
}

function namesByType<N extends string>(
  rules: Readonly<Record<N, { readonly type: number }>>,
): ReadonlyMap<number, N> {
  const names = new Map<number, N>();
  for (const name in rules) names.set(rules[name].type, name);
  return names;
}

/** Encodes frames one behind the other, until they are taken. */
export class FrameEncoder {
  private readonly writer = new FrameWriter();

  /** The bytes of the frames that were not taken. */
  get length(): number {
    return this.writer.length;
  }

  /** @throws FrameRefused for a value beyond its bound, which the other side would refuse. */
  add(frame: Frame): void {
    const { writer } = this;
    const start = writer.length;
    writer.u32(0);
    try {
      this.write(frame);
      const length = writer.length - start - LENGTH_BYTES;
      const max = frame.kind === "request" ? MAX_EDGE_FRAME_BYTES : MAX_FRAME_BYTES;
      if (length > max) throw tooLong(nameOf(frame), length, max);
      writer.setU32(length, start);
    } catch (error) {
      writer.truncate(start);
      throw refusedIn(nameOf(frame), error);
    }
  }

  take(): Buffer {
    return this.writer.take();
  }

  private write(frame: Frame): void {
    switch (frame.kind) {
      case "notice":
        this.writeNotice(frame);
        return;
      case "request":
        this.writeRequest(frame);
        return;
      case "answer":
        this.writeAnswer(frame);
        return;
      case "refusal":
        this.stamp(REFUSAL_TYPE, frame);
        this.writer.u32(frame.id);
        NOTES.write(this.writer, frame.notes);
        LINK_REFUSAL.write(this.writer, frame.body);
    }
  }

  private writeNotice<N extends NoticeName>(frame: NoticeFrame<N>): void {
    const { type, body } = NOTICE_RULES[frame.name];
    this.stamp(type, frame);
    body.write(this.writer, frame.body);
  }

  private writeRequest<N extends RequestName>(frame: RequestFrame<N>): void {
    const { type, body } = REQUEST_RULES[frame.name];
    this.stamp(type, frame);
    this.writer.u32(frame.id);
    flag.write(this.writer, frame.isAgain);
    if (IS_UNSIGNED.has(frame.name)) writeTerms(this.writer, frame.terms);
    body.write(this.writer, frame.body);
  }

  private writeAnswer<N extends RequestName>(frame: AnswerFrame<N>): void {
    this.stamp(REQUEST_RULES[frame.name].type + 1, frame);
    this.writer.u32(frame.id);
    NOTES.write(this.writer, frame.notes);
    ANSWER_KINDS[frame.name].answer.write(this.writer, frame.body);
  }

  private stamp(type: number, { epoch, position }: Stamp): void {
    if (!isU32(epoch)) throw new WrongValue(`.epoch is ${epoch}`);
    this.writer.u16(type);
    this.writer.u32(epoch);
    this.writer.count(position);
  }
}

/** Splits what arrives into frames, in time and memory linear in what has arrived. */
export class FrameDecoder {
  /** What is not decoded: `pending` from `at` to `end`; behind it there may be room. */
  private pending: Buffer = Buffer.alloc(0);
  private at = 0;
  private end = 0;
  /** Of the frame that `next` returned last. */
  lastBytes = 0;
  private readonly maxBytes: number;

  /** `from`: which side sends. */
  constructor(private readonly from: LinkEnd) {
    this.maxBytes = from === "edge" ? MAX_EDGE_FRAME_BYTES : MAX_FRAME_BYTES;
  }

  /** Bytes that no `next` has returned. */
  get left(): number {
    return this.end - this.at;
  }

  push(chunk: Buffer): void {
    const { left } = this;
    if (left === 0) {
      this.pending = chunk;
      this.at = 0;
      this.end = chunk.length;
      return;
    }
    const needed = left + chunk.length;
    if (this.end + chunk.length > this.pending.length) {
      // Twice what is needed: a frame that arrives byte by byte is not copied with each of them.
      const larger = Buffer.allocUnsafe(2 * needed);
      this.pending.copy(larger, 0, this.at, this.end);
      this.pending = larger;
      this.at = 0;
    }
    chunk.copy(this.pending, this.at + left);
    this.end = this.at + needed;
  }

  /**
   * The next frame; undefined until the rest of it has arrived.
   *
   * @throws FrameRefused; nothing may be decoded after that.
   */
  next(): Frame | undefined {
    if (this.left < LENGTH_BYTES) return undefined;
    const length = this.pending.readUInt32LE(this.at);
    // Before the bytes arrive: nobody makes this side wait for, or hold, more than a frame.
    if (length > this.maxBytes) throw tooLong("a frame", length, this.maxBytes);
    if (this.left - LENGTH_BYTES < length) return undefined;
    const start = this.at + LENGTH_BYTES;
    this.at = start + length;
    this.lastBytes = length;
    return decodeFrame(this.pending.subarray(start, this.at), this.from);
  }
}

/** Decodes what follows the length. @throws FrameRefused */
function decodeFrame(bytes: Buffer, from: LinkEnd): Frame {
  const reader = new FrameReader(bytes);
  let name = "a frame";
  try {
    const type = reader.u16();
    const notice = NOTICE_NAMES.get(type);
    const request = REQUEST_NAMES.get(type - (type % 2));
    const isAnswer = type % 2 === 1;
    name = notice ?? request ?? (type === REFUSAL_TYPE ? "refusal" : name);
    const stamp = { epoch: reader.u32(), position: reader.count() };
    if (notice !== undefined) {
      const sender = NOTICES[notice].from;
      if (sender !== "either" && sender !== from) throw fromTheOther(from);
      return finished(reader, readNotice(notice, stamp, reader));
    }
    if (type === REFUSAL_TYPE) {
      if (from !== "core") throw fromTheOther(from);
      const id = reader.u32();
      const notes = NOTES.read(reader);
      return finished(reader, {
        kind: "refusal",
        ...stamp,
        id,
        notes,
        body: LINK_REFUSAL.read(reader),
      });
    }
    if (request === undefined) {
      throw new FrameRefused(`type ${type} is no frame of version ${LINK_VERSION} of the link`);
    }
    if (isAnswer !== (from === "core")) throw fromTheOther(from);
    return finished(
      reader,
      isAnswer ? readAnswer(request, stamp, reader) : readRequest(request, stamp, reader),
    );
  } catch (error) {
    throw refusedIn(name, error);
  }
}

function readNotice<N extends NoticeName>(
  name: N,
  stamp: Stamp,
  reader: FrameReader,
): NoticeFrame<N> {
  return { kind: "notice", ...stamp, name, body: NOTICE_RULES[name].body.read(reader) };
}

function readRequest<N extends RequestName>(
  name: N,
  stamp: Stamp,
  reader: FrameReader,
): RequestFrame<N> {
  const id = reader.u32();
  const isAgain = flag.read(reader);
  const terms = IS_UNSIGNED.has(name) ? readTerms(reader) : undefined;
  const body = REQUEST_RULES[name].body.read(reader);
  return { kind: "request", ...stamp, id, isAgain, terms, name, body };
}

function readAnswer<N extends RequestName>(
  name: N,
  stamp: Stamp,
  reader: FrameReader,
): AnswerFrame<N> {
  const id = reader.u32();
  const notes = NOTES.read(reader);
  return {
    kind: "answer",
    ...stamp,
    id,
    notes,
    name,
    body: ANSWER_KINDS[name].answer.read(reader),
  };
}

function finished<F>(reader: FrameReader, frame: F): F {
  if (reader.left > 0) throw new WrongValue(`has ${reader.left} bytes after its last field`);
  return frame;
}

function fromTheOther(from: LinkEnd): WrongValue {
  return new WrongValue(
    `is not for a side that is ${from === "core" ? "a core" : "an edge"} to send`,
  );
}

function nameOf(frame: Frame): string {
  if (frame.kind === "refusal") return frame.kind;
  return frame.kind === "answer" ? `${frame.name} (answer)` : frame.name;
}

function tooLong(name: string, length: number, max: number): FrameRefused {
  return new FrameRefused(`${name} has ${length} bytes; ${max} are allowed`);
}

function refusedIn(name: string, error: unknown): unknown {
  if (!(error instanceof WrongValue)) return error;
  const { message } = error;
  return new FrameRefused(message.startsWith(".") ? `${name}${message}` : `${name} ${message}`);
}
