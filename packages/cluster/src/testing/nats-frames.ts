/** Splits the bytes of a NATS connection into whole frames: a line, and its payload if it has one. */

export interface Frame {
  readonly bytes: Buffer;
  /** "HPUB", "MSG", "PING" and so on. */
  readonly verb: string;
  readonly args: readonly string[];
}

const WITH_PAYLOAD = new Set(["PUB", "HPUB", "MSG", "HMSG"]);
const END = "\r\n";

export class FrameSplitter {
  private rest: Buffer = Buffer.alloc(0);

  /** The frames that are complete with these bytes. */
  push(chunk: Buffer): Frame[] {
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    const frames: Frame[] = [];
    for (let frame = this.next(); frame !== undefined; frame = this.next()) frames.push(frame);
    return frames;
  }

  private next(): Frame | undefined {
    const lineEnd = this.rest.indexOf(END);
    if (lineEnd < 0) return undefined;
    const [verb = "", ...args] = this.rest.toString("latin1", 0, lineEnd).split(/\s+/);
    const upper = verb.toUpperCase();
    const payload = WITH_PAYLOAD.has(upper) ? Number(args.at(-1)) + END.length : 0;
    const length = lineEnd + END.length + payload;
    if (this.rest.length < length) return undefined;
    const bytes = this.rest.subarray(0, length);
    this.rest = this.rest.subarray(length);
    return { bytes, verb: upper, args };
  }
}
