/**
 * Counts what a server sends back, without reading more of it than necessary: status lines of HTTP,
 * then, after a switch of protocols, WebSocket frames.
 */
import { FrameCounter } from "../../streams/frame-counter.js";
import { isOk } from "../../streams/plain-socket.js";
import type { TallyCounter } from "./tally.js";

const STATUS_LINE = Buffer.from("HTTP/1.1 ");
const STATUS_END = STATUS_LINE.length + 3;
const HEADERS_END = Buffer.from("\r\n\r\n");
/** The beginning of `{t: "error", …}` in MessagePack. */
const ERROR = Buffer.from([0x82, 0xa1, 0x74, 0xa5, 0x65, 0x72, 0x72]);
const SWITCHED = "101";
/** First byte of a close frame: final fragment, opcode 8. */
const CLOSE_FRAME = 0x88;
const NOTHING = Buffer.alloc(0);

export class AnswerCounter {
  /** A status line that the end of a chunk may have cut. */
  private rest: Buffer = NOTHING;
  private frames: FrameCounter | undefined;

  constructor(
    private readonly tally: TallyCounter,
    private readonly onStatus: (status: string) => void,
  ) {}

  push(chunk: Buffer): void {
    if (this.frames === undefined) this.pushHttp(chunk);
    else this.pushFrames(chunk);
  }

  private pushHttp(chunk: Buffer): void {
    const all = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    let from = 0;
    for (;;) {
      const at = all.indexOf(STATUS_LINE, from);
      if (at < 0) from = Math.max(from, all.length - STATUS_LINE.length + 1);
      if (at < 0 || at + STATUS_END > all.length) {
        this.rest = Buffer.from(all.subarray(at < 0 ? from : at));
        return;
      }
      const status = all.toString("latin1", at + STATUS_LINE.length, at + STATUS_END);
      this.tally.countAnswer(status);
      from = at + STATUS_END;
      if (status === SWITCHED) {
        this.switchProtocols(all.subarray(from));
        return;
      }
      this.onStatus(status);
    }
  }

  /** The answer to an upgrade is short and arrives whole, possibly with the first frames. */
  private switchProtocols(rest: Buffer): void {
    this.frames = new FrameCounter();
    this.rest = NOTHING;
    const end = rest.indexOf(HEADERS_END);
    if (end >= 0) this.pushFrames(rest.subarray(end + HEADERS_END.length));
    this.onStatus(SWITCHED);
  }

  private pushFrames(chunk: Buffer): void {
    this.frames?.push(chunk, (bytes, at) => this.tally.countAnswer(kindOf(bytes, at)));
  }
}

function kindOf(chunk: Buffer, at: number): string {
  if (chunk[at - 2] === CLOSE_FRAME && at + 2 <= chunk.length) {
    return `ws close ${chunk.readUInt16BE(at)}`;
  }
  if (isOk(chunk, at)) return "ws ok";
  return ERROR.equals(chunk.subarray(at, at + ERROR.length)) ? "ws error" : "ws frame";
}
