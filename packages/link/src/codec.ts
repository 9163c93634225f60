/**
 * Frames as bytes:
 *
 *   u32 length of what follows │ u16 type │ u32 epoch │ count position │ id, notes │ fields
 *
 * A request has an id; an answer and a refusal have the id of their request, and notes. What is wrong
 * with a frame is reported with the names of frame and field, and ends the link.
 */

import { ByteReader, ByteWriter, isU32, WrongValue } from "./bytes.js";
import {
  type AnswerBodies,
  type AnswerFrame,
  type Frame,
  LINK_VERSION,
  MAX_FRAME_BYTES,
  NOTES,
  NOTICES,
  type NoticeBodies,
  type NoticeFrame,
  type NoticeName,
  REFUSAL,
  REFUSAL_TYPE,
  REQUESTS,
  type RequestBodies,
  type RequestFrame,
  type RequestName,
  type Side,
  type Stamp,
} from "./frames.js";
import type { Kind } from "./kinds.js";

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

function namesByType<N extends string>(
  rules: Readonly<Record<N, { readonly type: number }>>,
): ReadonlyMap<number, N> {
  const names = new Map<number, N>();
  for (const name in rules) names.set(rules[name].type, name);
  return names;
}

/** Encodes into one buffer, which the next call overwrites. */
export class FrameEncoder {
  private readonly writer = new ByteWriter();

  /** @throws FrameRefused for a value beyond its bound, which the other side would refuse. */
  encode(frame: Frame): Buffer {
    const { writer } = this;
    writer.clear();
    writer.u32(0);
    try {
      this.write(frame);
    } catch (error) {
      throw refusedIn(nameOf(frame), error);
    }
    const length = writer.length - LENGTH_BYTES;
    if (length > MAX_FRAME_BYTES) throw tooLong(nameOf(frame), length);
    writer.setU32(length, 0);
    return writer.bytes;
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
        REFUSAL.write(this.writer, frame.body);
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

/** Splits what arrives into frames; keeps what is not complete. */
export class FrameDecoder {
  private pending: Buffer = Buffer.alloc(0);

  /** `from`: which side sends. */
  constructor(private readonly from: Side) {}

  /**
   * The frames that the chunk completes.
   *
   * @throws FrameRefused; nothing may be decoded after that.
   */
  push(chunk: Buffer): Frame[] {
    this.pending = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    const frames: Frame[] = [];
    let at = 0;
    while (this.pending.length - at >= LENGTH_BYTES) {
      const length = this.pending.readUInt32LE(at);
      // Before the bytes arrive: nobody makes this side wait for, or hold, more than a frame.
      if (length > MAX_FRAME_BYTES) throw tooLong("a frame", length);
      if (this.pending.length - at - LENGTH_BYTES < length) break;
      at += LENGTH_BYTES;
      frames.push(decodeFrame(this.pending.subarray(at, at + length), this.from));
      at += length;
    }
    this.pending = this.pending.subarray(at);
    return frames;
  }
}

/** Decodes what follows the length. @throws FrameRefused */
function decodeFrame(bytes: Buffer, from: Side): Frame {
  const reader = new ByteReader(bytes);
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
      return finished(reader, { kind: "refusal", ...stamp, id, notes, body: REFUSAL.read(reader) });
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
  reader: ByteReader,
): NoticeFrame<N> {
  return { kind: "notice", ...stamp, name, body: NOTICE_RULES[name].body.read(reader) };
}

function readRequest<N extends RequestName>(
  name: N,
  stamp: Stamp,
  reader: ByteReader,
): RequestFrame<N> {
  const id = reader.u32();
  return { kind: "request", ...stamp, id, name, body: REQUEST_RULES[name].body.read(reader) };
}

function readAnswer<N extends RequestName>(
  name: N,
  stamp: Stamp,
  reader: ByteReader,
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

function finished<F>(reader: ByteReader, frame: F): F {
  if (reader.left > 0) throw new WrongValue(`has ${reader.left} bytes after its last field`);
  return frame;
}

function fromTheOther(from: Side): WrongValue {
  return new WrongValue(
    `is not for a side that is ${from === "core" ? "a core" : "an edge"} to send`,
  );
}

function nameOf(frame: Frame): string {
  if (frame.kind === "refusal") return frame.kind;
  return frame.kind === "answer" ? `${frame.name} (answer)` : frame.name;
}

function tooLong(name: string, length: number): FrameRefused {
  return new FrameRefused(`${name} has ${length} bytes; ${MAX_FRAME_BYTES} are allowed`);
}

function refusedIn(name: string, error: unknown): unknown {
  if (!(error instanceof WrongValue)) return error;
  const { message } = error;
  return new FrameRefused(message.startsWith(".") ? `${name}${message}` : `${name} ${message}`);
}
