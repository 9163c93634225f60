/**
 * The public keys of sessions and their sign-in messages. The engine keeps only a key's fingerprint;
 * checking a signature or a rotation and showing a session need the bytes.
 */
import { EVENT } from "@perpgate/engine";
import { SESSION_CLOSED } from "../event-fields.js";
import type { Applied } from "../replica.js";
import { HistoryDamaged } from "../venue-errors.js";
import { ROW_TABLES } from "./history-environment.js";
import { keyOf } from "./keys.js";
import { type ProjectedReader, type ProjectedWriter, sortedEntries } from "./projected-state.js";
import type { RowSink } from "./rows.js";

export interface SessionKeyRow {
  /** The current key: 32 bytes are Ed25519, more are secp256k1. */
  readonly publicKey: Buffer;
  /** The message that the wallet signed. */
  readonly message: Buffer;
}

export class SessionProjection {
  /** Of sessions that are not closed. */
  private readonly keys = new Map<number, SessionKeyRow>();

  constructor(private readonly queue: RowSink) {}

  save(writer: ProjectedWriter): void {
    writer.each(sortedEntries(this.keys), ([session, row]) => {
      writer.words([session]);
      writer.bytes(encodeSessionKey(row));
    });
  }

  load(reader: ProjectedReader): void {
    reader.each(() => {
      const [session = 0] = reader.words();
      this.keys.set(session, decodeSessionKey(reader.bytes()));
    });
  }

  onCommand({ command, evidence, seq }: Applied, firstEvent: number): void {
    const isNew = firstEvent !== EVENT.CommandRefused && firstEvent !== EVENT.RequestRepeated;
    if (command.kind === "OpenSession" && isNew) {
      this.keep(seq, {
        publicKey: Buffer.from(evidence.publicKey),
        message: Buffer.from(evidence.signed),
      });
    } else if (command.kind === "RotateSession" && firstEvent === EVENT.SessionRotated) {
      const known = this.keys.get(command.session);
      this.keep(command.session, {
        publicKey: Buffer.from(evidence.publicKey),
        message: known?.message ?? Buffer.alloc(0),
      });
    }
  }

  onClosed(words: Float64Array, at: number): void {
    this.keys.delete(words[at + SESSION_CLOSED.session]!);
  }

  keyOf(session: number): SessionKeyRow | undefined {
    return this.keys.get(session);
  }

  private keep(session: number, row: SessionKeyRow): void {
    this.keys.set(session, row);
    this.queue.put(ROW_TABLES.sessions, keyOf(session), encodeSessionKey(row));
  }
}

/** Length of the key, the key, the message. */
export function encodeSessionKey({ publicKey, message }: SessionKeyRow): Buffer {
  const length = Buffer.allocUnsafe(2);
  length.writeUInt16LE(publicKey.length);
  return Buffer.concat([length, publicKey, message]);
}

export function decodeSessionKey(bytes: Buffer): SessionKeyRow {
  const end = bytes.length < 2 ? 2 : 2 + bytes.readUInt16LE(0);
  if (end > bytes.length) throw new HistoryDamaged("a session's key is cut short");
  return { publicKey: bytes.subarray(2, end), message: bytes.subarray(end) };
}
