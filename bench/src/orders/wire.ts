/** Requests as the bytes of keep-alive HTTP, orders signed; made before the clock starts. */
import { createHash, type KeyObject, sign } from "node:crypto";

export interface Trader {
  readonly token: string;
  readonly key: KeyObject;
}

/**
 * Orders that trade for ever without running out of money or room: one lot's worth at the mark,
 * long and short in turn, so that each account's position swings around flat.
 */
export function orderBody(nonce: number, price: number): string {
  const side = nonce % 2 === 0 ? "long" : "short";
  return `{"symbol":"BTCUSD","side":"${side}","type":"limit","margin":2,"leverage":5,"price":${price},"nonce":${nonce}}`;
}

export function signature(key: KeyObject | string, body: string): string {
  return sign(null, createHash("sha256").update(body).digest(), key).toString("base64");
}

export function orderRequest(trader: Trader, body: string): Buffer {
  return Buffer.from(
    "POST /v1/orders HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n" +
      `authorization: Bearer ${trader.token}\r\nx-service-sig: ${signature(trader.key, body)}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

export function readRequest(path: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
}
