/** The client's side of a WebSocket by hand: a full client would take the cores of what is measured. */
import type { Socket } from "node:net";
import { connectLean } from "../orders/lean-socket.js";

const HANDSHAKE_END = "\r\n\r\n";
/** The beginning of `{t: "ok", …}` in MessagePack. */
const OK = Buffer.from([0x82, 0xa1, 0x74, 0xa2, 0x6f, 0x6b]);

/** Whether the payload that begins at `at` says so. */
export function isOk(chunk: Buffer, at: number): boolean {
  for (let i = 0; i < OK.length; i++) if (chunk[at + i] !== OK[i]) return false;
  return true;
}

/** Resolves once the upgrade was answered; the bytes after it go to `onData`, good during the call. */
export async function openSocket(
  port: number,
  token: string | undefined,
  onData: (chunk: Buffer) => void,
): Promise<Socket> {
  const bearer = token === undefined ? "" : `authorization: Bearer ${token}\r\n`;
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    const readHead = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf(HANDSHAKE_END);
      if (end < 0) return;
      if (!head.toString("latin1").startsWith("HTTP/1.1 101")) {
        reject(new Error(`no upgrade: ${head.toString("latin1", 0, 200)}`));
        return;
      }
      read = onData;
      const rest = head.subarray(end + HANDSHAKE_END.length);
      if (rest.length > 0) onData(rest);
      resolve(socket);
    };
    let read = readHead;
    const socket = connectLean(port, (chunk) => read(chunk));
    socket.once("error", reject);
    socket.write(
      "GET /ws/v1 HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: Upgrade\r\nupgrade: websocket\r\n" +
        `sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n${bearer}\r\n`,
    );
  });
}

/** A text message as a client sends it: masked, with a mask of zeros, which leaves it as it is. */
export function textMessage(text: string): Buffer {
  const payload = Buffer.from(text);
  const isShort = payload.length < 126;
  const header = Buffer.alloc(isShort ? 6 : 8);
  header[0] = 0x81;
  header[1] = 0x80 | (isShort ? payload.length : 126);
  if (!isShort) header.writeUInt16BE(payload.length, 2);
  return Buffer.concat([header, payload]);
}
