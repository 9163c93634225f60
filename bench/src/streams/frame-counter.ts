/** Finds the ends of a server's WebSocket frames in a stream of bytes, without reading what is in them. */

/** `at` is where the payload begins in `chunk`, which may end before the payload does. */
export type FrameSink = (chunk: Buffer, at: number) => void;

const LONGEST_HEADER = 10;

export class FrameCounter {
  /** Frames that have arrived whole. */
  frames = 0;
  /** Bytes of the last one, its header included. */
  lastBytes = 0;
  /** The beginning of a header whose end is yet to come. */
  private header: Buffer | undefined;
  /** Bytes of the frame under way that are yet to come. */
  private missing = 0;

  push(chunk: Buffer, onFrame?: FrameSink): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.missing > 0) {
        const taken = Math.min(this.missing, chunk.length - at);
        this.missing -= taken;
        at += taken;
        if (this.missing === 0) this.frames++;
      } else if (this.header !== undefined) {
        // Seldom: TCP cut a header in two.
        const joined = Buffer.concat([this.header, chunk.subarray(at)]);
        this.header = undefined;
        this.push(joined, onFrame);
        return;
      } else {
        const header = headerBytes(chunk, at);
        if (at + header > chunk.length) {
          this.header = Buffer.from(chunk.subarray(at));
          return;
        }
        onFrame?.(chunk, at + header);
        this.lastBytes = header + payloadBytes(chunk, at, header);
        this.missing = this.lastBytes;
      }
    }
  }
}

/** Of the frame that begins at `at`; more than there is where its second byte is yet to come. */
function headerBytes(chunk: Buffer, at: number): number {
  const short = chunk[at + 1];
  if (short === undefined) return LONGEST_HEADER;
  if (short < 126) return 2;
  return short === 126 ? 4 : LONGEST_HEADER;
}

function payloadBytes(chunk: Buffer, at: number, header: number): number {
  if (header === 2) return chunk[at + 1]!;
  if (header === 4) return chunk.readUInt16BE(at + 2);
  return Number(chunk.readBigUInt64BE(at + 2));
}
