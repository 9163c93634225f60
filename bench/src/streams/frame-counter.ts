/** Finds the ends of a server's WebSocket frames in a stream of bytes, without reading what is in them. */

export class FrameCounter {
  /** Frames that have arrived whole. */
  frames = 0;
  /** Bytes of the last one, its header included. */
  lastBytes = 0;
  private header: Buffer = Buffer.alloc(0);
  /** Bytes of the frame under way that are yet to come. */
  private missing = 0;

  /** `onFrame` gets the beginning of the payload as far as it lies in the same chunk. */
  push(chunk: Buffer, onFrame?: (payload: Buffer) => void): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.missing > 0) {
        const taken = Math.min(this.missing, rest.length);
        this.missing -= taken;
        rest = rest.subarray(taken);
        if (this.missing === 0) this.frames++;
        continue;
      }
      const head = this.header.length === 0 ? rest : Buffer.concat([this.header, rest]);
      const size = sizeOf(head);
      if (size === undefined) {
        this.header = Buffer.from(head);
        return;
      }
      onFrame?.(head.subarray(size.header));
      this.lastBytes = size.header + size.payload;
      this.missing = this.lastBytes;
      rest = head;
      this.header = Buffer.alloc(0);
    }
  }
}

function sizeOf(head: Buffer): { header: number; payload: number } | undefined {
  if (head.length < 2) return undefined;
  const short = head[1]! & 0x7f;
  if (short < 126) return { header: 2, payload: short };
  if (short === 126)
    return head.length < 4 ? undefined : { header: 4, payload: head.readUInt16BE(2) };
  return head.length < 10 ? undefined : { header: 10, payload: Number(head.readBigUInt64BE(2)) };
}
