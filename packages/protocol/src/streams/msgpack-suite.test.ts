/**
 * The MessagePack test suite (kawanet/msgpack-test-suite) against both ends of the stream: msgpackr,
 * which the server uses, and @msgpack/msgpack, as an example of a client. Each case lists every
 * encoding of a value; a decoder must accept them all.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { decode, ExtensionCodec } from "@msgpack/msgpack";
import { addExtension, Packr } from "msgpackr";
import { describe, expect, test } from "vitest";
import { withVectors } from "../testing/vectors.js";
import { encodeFrame } from "./stream-frame.js";

interface Case {
  readonly msgpack: readonly string[];
  readonly [kind: string]: unknown;
}

withVectors("msgpack", (folder) => {
  const file = join(folder, "msgpack-test-suite.json");
  const suite: Record<string, readonly Case[]> = JSON.parse(readFileSync(file, "utf8"));

  describe("the MessagePack suite", () => {
    test.each(Object.entries(suite))("%s: both decoders accept every encoding", (_, cases) => {
      for (const entry of cases) {
        const value = toHundredths(meaningOf(entry));
        for (const encoding of entry.msgpack) {
          expect(toHundredths(decodeAsServer(encoding)), `msgpackr ${encoding}`).toEqual(value);
          expect(toHundredths(decodeAsClient(encoding)), `@msgpack/msgpack ${encoding}`).toEqual(
            value,
          );
        }
      }
    });

    test("every value that JSON or bytes can be: read from a frame by any decoder", () => {
      for (const entry of Object.values(suite).flat()) {
        if ("ext" in entry || "timestamp" in entry) continue;
        const frame = { t: "x", d: meaningOf(entry) };
        expect(decode(new Uint8Array(encodeFrame(frame)))).toEqual(frame);
      }
    });
  });
});

/** The value of a case in JavaScript: a Date for a timestamp, the bytes of an extension. */
function meaningOf(entry: Case): unknown {
  const { binary, timestamp, ext, bignum, msgpack: _, ...plain } = entry;
  if (typeof binary === "string") return bytesOf(binary);
  if (Array.isArray(timestamp)) return new Date(timestamp[0] * 1e3 + timestamp[1] / 1e6);
  if (Array.isArray(ext)) return bytesOf(ext[1]);
  const [value] = Object.values(plain);
  return value === undefined ? Number(bignum) : value;
}

/** A Date has milliseconds, a timestamp nanoseconds; decoders cut or round. To 10 ms they agree. */
function toHundredths(value: unknown): unknown {
  return value instanceof Date ? Math.round(value.getTime() / 10) * 10 : value;
}

function bytesOf(dashed: string): Uint8Array {
  if (dashed === "") return new Uint8Array(0);
  return Uint8Array.from(dashed.split("-"), (hex) => Number.parseInt(hex, 16));
}

/** Decodes an extension as its bytes; both decoders need a handler. */
function decodeAsServer(encoding: string): unknown {
  const bytes = bytesOf(encoding);
  const value: unknown = server.unpack(bytes);
  return value instanceof Uint8Array ? new Uint8Array(value) : value;
}

function decodeAsClient(encoding: string): unknown {
  return decode(bytesOf(encoding), { extensionCodec: clientExtensions });
}

const server = new Packr({ useRecords: false, int64AsType: "number", mapsAsObjects: true });
const clientExtensions = new ExtensionCodec();
for (let type = 1; type < 128; type++) {
  addExtension({ type, unpack: (data) => new Uint8Array(data) });
  clientExtensions.register({ type, encode: () => null, decode: (data) => data.slice() });
}
