/** Client frames of a WebSocket as bytes, well-formed or not. Masks are zeros, so text stays as it is. */
export const OPCODE = {
  continuation: 0x0,
  text: 0x1,
  binary: 0x2,
  close: 0x8,
  ping: 0x9,
  pong: 0xa,
} as const;

const FINAL = 0x80;
const MASKED = 0x80;
const MASK_BYTES = 4;

export function frame(
  opcode: number,
  payload: string | Buffer = "",
  { isFinal = true, isMasked = true } = {},
): Buffer {
  const bytes = Buffer.from(payload);
  const { length } = bytes;
  const size = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const header = Buffer.alloc(size + (isMasked ? MASK_BYTES : 0));
  header[0] = (isFinal ? FINAL : 0) | opcode;
  header[1] = (isMasked ? MASKED : 0) | (size === 2 ? length : size === 4 ? 126 : 127);
  if (size === 4) header.writeUInt16BE(length, 2);
  else if (size === 10) header.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([header, bytes]);
}

export function message(content: unknown): Buffer {
  return frame(OPCODE.text, typeof content === "string" ? content : JSON.stringify(content));
}

export function upgrade(token?: string): Buffer {
  const bearer = token === undefined ? "" : `authorization: Bearer ${token}\r\n`;
  return Buffer.from(
    "GET /ws/v1 HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: Upgrade\r\nupgrade: websocket\r\n" +
      `sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n${bearer}\r\n`,
  );
}
