import { Random } from "@perpgate/protocol/random";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FrameReader, FrameWriter, WrongValue } from "./bytes.js";
import { FrameDecoder, FrameEncoder, FrameRefused } from "./codec.js";
import {
  type Frame,
  LINK_REFUSAL,
  type LinkEnd,
  MAX_EDGE_FRAME_BYTES,
  MAX_FRAME_BYTES,
  NOTES,
  NOTICES,
  type NoticeName,
  REQUESTS,
  type RequestName,
} from "./frames.js";
import { bytes, count, enumOf, flag, type Kind, list, optional, record, text } from "./kinds.js";

const MANY = 300;

/** Fields of a value: a million orders would fill the heap. */
const MANY_FIELDS = 20_000;
const MANY_BYTES = 100_000;

/** Reads random values instead of bytes: what a kind reads of it, the kind may write. */
class RandomReader extends FrameReader {
  private counts = 0;
  private fields = 0;

  constructor(private readonly random: () => number) {
    super(Buffer.alloc(0));
  }

  override byte(): number {
    return this.next() < 0.6 ? 1 : 0;
  }

  override u32(): number {
    return Math.floor(this.next() * 2 ** 32);
  }

  override count(): number {
    // Lists within lists would multiply.
    if (++this.counts > MANY) return this.byte();
    const sizes = [2, 4, 300, 2 ** 40];
    return Math.floor(this.next() ** 4 * sizes[Math.floor(this.random() ** 3 * sizes.length)]!);
  }

  override number(): number {
    return Math.round((this.next() - 0.5) * 1e9);
  }

  override raw(length: number): Buffer {
    if (length > MANY_BYTES) throw new WrongValue("too long for a test");
    return Buffer.from(Array.from({ length }, () => Math.floor(this.random() * 256)));
  }

  override text(length: number): string {
    this.next();
    const most = Math.min(length, 20);
    let made = "";
    for (let bytes = 0; bytes < most; ) {
      const next = "aZ9 é€".charAt(this.random() * 6);
      bytes += Buffer.byteLength(next);
      if (bytes <= most) made += next;
    }
    return made;
  }

  private next(): number {
    if (++this.fields > MANY_FIELDS) throw new WrongValue("too many fields for a test");
    return this.random();
  }
}

function randomOf<T>(kind: Kind<T>, random: () => number): T {
  for (let i = 0; i < 10_000; i++) {
    try {
      return kind.read(new RandomReader(random));
    } catch (error) {
      // A count beyond the bound of its kind, or of this test.
      if (!(error instanceof WrongValue)) throw error;
    }
  }
  throw new Error(`no value of ${kind.words} was found`);
}

/** A frame of every row of the table, with random values. */
function framesOf(random: () => number): { from: LinkEnd; frame: Frame }[] {
  const stamp = { epoch: Math.floor(random() * 2 ** 32), position: Math.floor(random() * 2 ** 53) };
  const id = Math.floor(random() * 2 ** 32);
  const notes = randomOf(NOTES, random);
  const notice = <N extends NoticeName>(
    name: N,
    kind: Kind<unknown>,
  ): { from: LinkEnd; frame: Frame } => {
    const { from } = NOTICES[name];
    const body = randomOf<Frame["body"]>(NOTICES[name].body, random);
    expect(kind).toBe(NOTICES[name].body);
    return {
      from: from === "either" ? "core" : from,
      frame: framed({ kind: "notice", name, ...stamp, body }),
    };
  };
  const frames = (Object.keys(NOTICES) as NoticeName[]).map((name) =>
    notice(name, NOTICES[name].body),
  );
  for (const name of Object.keys(REQUESTS) as RequestName[]) {
    const { body, answer, isUnsigned } = REQUESTS[name];
    frames.push({
      from: "edge",
      frame: framed({
        kind: "request",
        name,
        id,
        ...stamp,
        isAgain: random() < 0.5,
        terms: isUnsigned ? { id: "0123456789abcdef".repeat(2), notAfterMs: id } : undefined,
        body: randomOf<unknown>(body, random),
      }),
    });
    frames.push({
      from: "core",
      frame: framed({
        kind: "answer",
        name,
        id,
        ...stamp,
        notes,
        body: randomOf<unknown>(answer, random),
      }),
    });
  }
  frames.push({
    from: "core",
    frame: { kind: "refusal", id, ...stamp, notes, body: randomOf(LINK_REFUSAL, random) },
  });
  return frames;
}

/** A row's name and values belong together by construction, which its type cannot say. */
function framed(frame: object): Frame {
  return frame as Frame;
}

function decoded(encoded: Buffer, from: LinkEnd, cut = encoded.length): Frame[] {
  const decoder = new FrameDecoder(from);
  decoder.push(encoded.subarray(0, cut));
  const frames = all(decoder);
  decoder.push(encoded.subarray(cut));
  return [...frames, ...all(decoder)];
}

function refusalOf(part: Buffer, from: LinkEnd): Error | undefined {
  try {
    decoded(part, from);
  } catch (error) {
    if (error instanceof Error) return error;
  }
  return undefined;
}

function all(decoder: FrameDecoder): Frame[] {
  const frames: Frame[] = [];
  for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) frames.push(frame);
  return frames;
}

function encode(...frames: Frame[]): Buffer {
  const encoder = new FrameEncoder();
  for (const frame of frames) encoder.add(frame);
  return encoder.take();
}

/** A stream of fast-check keeps each of a million values, and shrinks them for hours. */
const seeds = fc.integer();

function draw(seed: number): () => number {
  const random = new Random(seed);
  return () => random.next();
}

test("every frame of the table, with random values: decoded as it was, however it is cut", () => {
  fc.assert(
    fc.property(seeds, fc.nat(), (seed, at) => {
      for (const { from, frame } of framesOf(draw(seed))) {
        const encoded = encode(frame);
        expect(decoded(encoded, from, at % (encoded.length + 1))).toEqual([frame]);
      }
    }),
    { numRuns: 60 },
  );
});

test("a frame that ends at any byte before its last field does: refused with its name", () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      for (const { from, frame } of framesOf(draw(seed))) {
        const encoded = encode(frame);
        const name = frame.kind === "refusal" ? "refusal" : frame.name;
        const step = Math.max(1, Math.floor(encoded.length / 40));
        // Compared once: an expectation for each took most of the time.
        const taken: unknown[] = [];
        for (let length = 4; length < encoded.length; length += step) {
          const part = Buffer.from(encoded.subarray(0, length));
          part.writeUInt32LE(length - 4, 0);
          const expected = length < 6 ? "a frame is cut off" : name;
          const refused = refusalOf(part, from);
          const isNamed = refused instanceof FrameRefused && refused.message.startsWith(expected);
          if (!isNamed) taken.push([length, refused]);
        }
        expect(taken).toEqual([]);
        const longer = Buffer.concat([encoded, Buffer.alloc(1)]);
        longer.writeUInt32LE(longer.length - 4, 0);
        expect(() => decoded(longer, from)).toThrow("has 1 bytes after its last field");
      }
    }),
    { numRuns: 4 },
  );
});

test("random bytes, and frames with a random byte changed: refused, or frames with these bytes", () => {
  const check = (encoded: Buffer, from: LinkEnd): void => {
    let frames: Frame[];
    try {
      frames = decoded(encoded, from);
    } catch (error) {
      expect(error).toBeInstanceOf(FrameRefused);
      return;
    }
    const again = encode(...frames);
    expect(again.equals(encoded.subarray(0, again.length))).toBe(true);
  };
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 64 }),
      fc.constantFrom<LinkEnd>("edge", "core"),
      (body, from) => {
        const encoded = Buffer.concat([Buffer.alloc(4), body]);
        encoded.writeUInt32LE(body.length, 0);
        check(encoded, from);
      },
    ),
    { numRuns: 2_000 },
  );
  fc.assert(
    fc.property(seeds, fc.nat(), fc.nat(255), (seed, at, byte) => {
      for (const { from, frame } of framesOf(draw(seed))) {
        const encoded = encode(frame);
        encoded[4 + (at % (encoded.length - 4))] = byte;
        check(encoded, from);
      }
    }),
    { numRuns: 60 },
  );
});

test("an unknown type: the message names the type and the version; a length above the bound: refused before its bytes arrive", () => {
  const unknown = Buffer.alloc(20);
  unknown.writeUInt32LE(16, 0);
  unknown.writeUInt16LE(9_999, 4);
  expect(() => decoded(unknown, "edge")).toThrow("type 9999 is no frame of version 1 of the link");
  const endless = Buffer.alloc(4);
  endless.writeUInt32LE(MAX_FRAME_BYTES + 1, 0);
  expect(() => decoded(endless, "core")).toThrow(`${MAX_FRAME_BYTES} are allowed`);
  endless.writeUInt32LE(MAX_EDGE_FRAME_BYTES + 1, 0);
  expect(() => decoded(endless, "edge")).toThrow(`${MAX_EDGE_FRAME_BYTES} are allowed`);
});

test("frames behind each other, cut into pieces of any size: all arrive, in order", () => {
  fc.assert(
    fc.property(
      seeds,
      fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1 }),
      (seed, sizes) => {
        const frames = framesOf(draw(seed)).filter(({ from }) => from === "core");
        const bytes = encode(...frames.map(({ frame }) => frame));
        const decoder = new FrameDecoder("core");
        const arrived: Frame[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = sizes[i % sizes.length]!;
          // A copy: a reader's buffer is used again for what arrives next.
          decoder.push(Buffer.from(bytes.subarray(at, at + size)));
          // Some are left for later.
          const frame = i % 3 === 0 ? undefined : decoder.next();
          if (frame !== undefined) arrived.push(frame);
          at += size;
        }
        expect([...arrived, ...all(decoder)]).toEqual(frames.map(({ frame }) => frame));
        expect(decoder.left).toBe(0);
      },
    ),
    { numRuns: 60 },
  );
});

test("a value beyond its bound: what was added before it is sent as it was", () => {
  const stamp = { epoch: 0, position: 0 };
  const bye: Frame = { kind: "notice", name: "bye", ...stamp, body: { reason: "the end" } };
  const encoder = new FrameEncoder();
  encoder.add(bye);
  expect(() => encoder.add({ ...bye, body: { reason: "x".repeat(1_025) } })).toThrow(
    "bye.reason has 1025 bytes; 1024 are allowed",
  );
  encoder.add(bye);
  expect(decoded(encoder.take(), "edge")).toEqual([bye, bye]);
  expect(encoder.length).toBe(0);
});

// With a copy of what is there for each byte it would take hours.
test("a long frame that arrives byte by byte: decoded in time linear in its length", () => {
  const stamp = { epoch: 0, position: 0 };
  const body = { file: new Uint8Array(1 << 20).fill(7) };
  const notes = { counted: undefined, rows: 0, work: 0, isReplay: false, historyBefore: 0 };
  const bytes = encode({ kind: "answer", name: "tlogPolicy", id: 1, ...stamp, notes, body });
  const decoder = new FrameDecoder("core");
  let early = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (decoder.next() !== undefined) early++;
    decoder.push(bytes.subarray(at, at + 1));
  }
  expect(early).toBe(0);
  const arrived = decoder.next();
  // An assertion that looks at a million elements takes seconds.
  const file = arrived?.kind === "answer" && "file" in arrived.body ? arrived.body.file : undefined;
  expect(file !== undefined && Buffer.from(body.file).equals(file)).toBe(true);
});

test("a frame of the other side: refused", () => {
  const stamp = { epoch: 0, position: 0 };
  const hello = encode({ kind: "notice", name: "hello", ...stamp, body: { version: 1 } });
  expect(() => decoded(hello, "core")).toThrow("hello is not for a side that is a core to send");
  const once = { isAgain: false, terms: undefined };
  const ask = encode({ kind: "request", name: "tlogPolicy", id: 1, ...stamp, ...once, body: {} });
  expect(() => decoded(ask, "core")).toThrow("tlogPolicy is not for a side that is a core to send");
});

const BOUNDED = record({
  small: count(10),
  words: enumOf(["a", "b"]),
  name: text(3),
  blob: bytes(2),
  flags: list(flag, 2),
  more: optional(record({ inner: count(1) })),
});
const GOOD = {
  small: 1,
  words: "a",
  name: "é",
  blob: new Uint8Array(2),
  flags: [true],
  more: undefined,
} as const;

test.each([
  [{ ...GOOD, small: 11 }, ".small is 11"],
  [{ ...GOOD, small: -1 }, ".small is -1"],
  [{ ...GOOD, small: 0.5 }, ".small is 0.5"],
  [{ ...GOOD, name: "éé" }, ".name has 4 bytes; 3 are allowed"],
  [{ ...GOOD, blob: new Uint8Array(3) }, ".blob has 3 bytes; 2 are allowed"],
  [{ ...GOOD, flags: [true, true, true] }, ".flags has 3 entries; 2 are allowed"],
  [{ ...GOOD, more: { inner: 2 } }, ".more.inner is 2"],
] as const)("a value beyond its bound is not sent: %j", (values, problem) => {
  expect(() => BOUNDED.write(new FrameWriter(), values)).toThrow(problem);
});
