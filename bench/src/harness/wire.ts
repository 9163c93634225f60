/** Bytes of HTTP requests and WebSocket frames, built by hand before the clock starts. */
import { createHash, type KeyObject, sign } from "node:crypto";

export interface RequestParts {
  readonly method?: string;
  readonly path: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export function request({ method, path, token, headers = {}, body }: RequestParts): Buffer {
  const lines = [
    `${method ?? (body === undefined ? "GET" : "POST")} ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
    ...(body === undefined
      ? []
      : ["content-type: application/json", `content-length: ${Buffer.byteLength(body)}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  return body === undefined ? head : Buffer.concat([head, Buffer.from(body)]);
}

/**
 * An order that an account can send any number of times: small, at the mark, alternately long and
 * short, so that its position stays around zero.
 */
export function orderBody(nonce: number, price = 65_000): string {
  const side = nonce % 2 === 0 ? "long" : "short";
  return `{"symbol":"BTCUSD","side":"${side}","type":"limit","margin":2,"leverage":5,"price":${price},"nonce":${nonce}}`;
}

/** The `x-service-sig` of a body, by either kind of session key. */
export function signatureOf(key: KeyObject, body: string): string {
  if (key.asymmetricKeyType !== "ed25519") {
    return sign("sha256", Buffer.from(body), { key, dsaEncoding: "ieee-p1363" }).toString("base64");
  }
  return sign(null, createHash("sha256").update(body).digest(), key).toString("base64");
}

export function orderRequest(token: string, body: string, signature: string): Buffer {
  return request({ path: "/v1/orders", token, headers: { "x-service-sig": signature }, body });
}

export function cancelRequest(token: string, orderId: string): Buffer {
  const headers = { "content-length": "0" };
  return request({ method: "POST", path: `/v1/orders/${orderId}/cancel`, token, headers });
}

export const OPCODE = { continuation: 0, text: 1, close: 8, ping: 9, pong: 10 } as const;

/** A client's frame, well-formed or not. The mask is zeros, which leaves the payload as it is. */
export function frame(
  opcode: number,
  payload: string | Buffer = "",
  { isFinal = true, isMasked = true } = {},
): Buffer {
  const bytes = Buffer.from(payload);
  const { length } = bytes;
  const size = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const header = Buffer.alloc(size + (isMasked ? 4 : 0));
  header[0] = (isFinal ? 0x80 : 0) | opcode;
  header[1] = (isMasked ? 0x80 : 0) | (size === 2 ? length : size === 4 ? 126 : 127);
  if (size === 4) header.writeUInt16BE(length, 2);
  else if (size === 10) header.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([header, bytes]);
}

export function message(content: unknown): Buffer {
  return frame(OPCODE.text, typeof content === "string" ? content : JSON.stringify(content));
}

export function upgrade(token?: string): Buffer {
  const headers = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  return request({ path: "/ws/v1", headers, ...(token === undefined ? {} : { token }) });
}

/** The beginning of `{t: "ok", …}` in MessagePack. */
const OK = Buffer.from([0x82, 0xa1, 0x74, 0xa2, 0x6f, 0x6b]);

/** Whether the frame payload that begins at `at` is the reply to an accepted operation. */
export function isOk(chunk: Buffer, at: number): boolean {
  for (let i = 0; i < OK.length; i++) if (chunk[at + i] !== OK[i]) return false;
  return true;
}

/** `at` is where the payload begins in `chunk`, which may end before the payload does. */
type OnFrame = (chunk: Buffer, at: number) => void;

const LONGEST_HEADER = 10;
const EMPTY = Buffer.alloc(0);

/** Finds a server's WebSocket frames in a stream of bytes without reading their payloads. */
export class FrameCounter {
  /** Size of the last frame, header included. */
  lastBytes = 0;
  /** The first bytes of a header that TCP cut in two. */
  private header: Buffer = EMPTY;
  /** Bytes of the current frame that have not arrived. */
  private missing = 0;

  push(chunk: Buffer, onFrame: OnFrame): void {
    const bytes = this.header.length === 0 ? chunk : Buffer.concat([this.header, chunk]);
    this.header = EMPTY;
    let at = this.missing;
    while (at < bytes.length) {
      const header = headerBytes(bytes, at);
      if (at + header > bytes.length) {
        this.header = Buffer.from(bytes.subarray(at));
        this.missing = 0;
        return;
      }
      this.lastBytes = header + payloadBytes(bytes, at, header);
      onFrame(bytes, at + header);
      at += this.lastBytes;
    }
    this.missing = at - bytes.length;
  }
}

/** Where the second byte is missing, more than there is. */
function headerBytes(chunk: Buffer, at: number): number {
  const length = chunk[at + 1];
  if (length === undefined) return LONGEST_HEADER;
  return length < 126 ? 2 : length === 126 ? 4 : LONGEST_HEADER;
}

function payloadBytes(chunk: Buffer, at: number, header: number): number {
  if (header === 2) return chunk[at + 1]!;
  if (header === 4) return chunk.readUInt16BE(at + 2);
  return Number(chunk.readBigUInt64BE(at + 2));
}
