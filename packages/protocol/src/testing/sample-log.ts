/**
 * A small log with receipts, made without a venue: blocks of three acknowledgements, one receipt key, one
 * witness. A test changes blocks or statements before they are signed, as a dishonest venue would.
 */

import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { ACKNOWLEDGED_FIELDS, ACKNOWLEDGED_KIND } from "../blocks/acknowledgement-leaf.js";
import { type BlockHeader, encodeBlockHeader } from "../blocks/block-header.js";
import { treeLeafHash } from "../blocks/merkle-path.js";
import { ackListHash, type ListedAck } from "../receipts/ack-list.js";
import { base64Url, joinBytes, u64 } from "../receipts/bytes.js";
import { checkpointText } from "../receipts/checkpoint.js";
import { type ProvenBlock, provenBlockText } from "../receipts/evidence-file.js";
import {
  certifiedBytes,
  encodeReceipt,
  type Receipt,
  type ReceiptStatement,
  requestHashOf,
  signedRoot,
  statementBytes,
} from "../receipts/receipt.js";
import { type ReceiptFile, receiptFile } from "../receipts/receipt-file.js";
import { NOTE_KEY, type NoteKey, noteKeyText, signatureLine } from "../receipts/signed-note.js";
import { inclusionRanges, rootOfLeafHashes } from "../receipts/tree.js";
import { TestCosigner } from "./test-cosigner.js";

export interface SampleBlock {
  readonly timeMs: number;
  readonly acks: readonly ListedAck[];
}

export interface SampleHistory {
  readonly headers: readonly Uint8Array[];
  readonly lists: readonly Uint8Array[];
}

const FIRST_POSITION = 12_500;
const BLOCK_MS = 200;
const START_MS = 1_780_000_000_000;
const SESSION = 7;

export class SampleKey implements NoteKey {
  readonly algorithm = NOTE_KEY.ed25519;
  readonly publicKey: Uint8Array;
  readonly privateKey: KeyObject;

  constructor(readonly name = "venue.example/log") {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    this.publicKey = new Uint8Array(
      publicKey.export({ format: "der", type: "spki" }).subarray(-32),
    );
    this.privateKey = privateKey;
  }

  get text(): string {
    return noteKeyText(this);
  }

  sign(message: Uint8Array): Uint8Array {
    return new Uint8Array(sign(null, message, this.privateKey));
  }

  /** What only the key's owner can make: R is the neutral element and S = h·a, so S·B = R + h·A holds. */
  signWithNeutralR(message: Uint8Array): Uint8Array {
    const pkcs8 = this.privateKey.export({ format: "der", type: "pkcs8" });
    const secret = createHash("sha512").update(pkcs8.subarray(-32)).digest().subarray(0, 32);
    secret[0] = (secret[0] ?? 0) & 0xf8;
    secret[31] = ((secret[31] ?? 0) & 0x3f) | 0x40;
    const r = Uint8Array.of(1, ...new Uint8Array(31));
    const digest = createHash("sha512").update(r).update(this.publicKey).update(message).digest();
    let s = (littleEndian(digest) * littleEndian(secret)) % GROUP_ORDER;
    const signature = new Uint8Array(64);
    signature.set(r);
    for (let at = 32; at < 64; at++, s >>= 8n) signature[at] = Number(s & 255n);
    return signature;
  }
}

/** Of Ed25519's base point. */
const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

function littleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

export class SampleLog {
  readonly key = new SampleKey();
  readonly witness = new TestCosigner();
  readonly receiptKey = new SampleKey();
  readonly venueId = new Uint8Array(32).fill(0x11);

  /** Seven blocks. */
  blocks(): SampleBlock[] {
    return Array.from({ length: 7 }, (_, i) => ({
      timeMs: START_MS + (i + 1) * BLOCK_MS,
      acks: [0, 1, 2].map((j) => {
        const position = FIRST_POSITION + 10 * i + 3 * j;
        return { position, leafHash: treeLeafHash(this.leaf(position, i + 1)) };
      }),
    }));
  }

  /** The leaf of an acknowledgement without a fill. */
  leaf(position: number, block: number, nonce = position): Uint8Array {
    const fields: Readonly<Record<string, number>> = {
      orderId: position,
      session: SESSION,
      side: 1,
      type: 1,
      nonce,
      status: 1,
      remainingLots: 100,
      block,
    };
    const names = ACKNOWLEDGED_FIELDS.slice(0, ACKNOWLEDGED_FIELDS.indexOf("ackNonce"));
    const words = [ACKNOWLEDGED_KIND, ...names.map((name) => fields[name] ?? 0)];
    return new Uint8Array(Float64Array.from(words).buffer);
  }

  sealed(blocks: readonly SampleBlock[]): SampleHistory {
    const headers: Uint8Array[] = [];
    const lists: Uint8Array[] = [];
    for (const [i, { timeMs, acks }] of blocks.entries()) {
      const last = headers.at(-1);
      const list = joinBytes(
        ...acks.flatMap(({ position, leafHash }) => [u64(position), leafHash]),
      );
      const header: BlockHeader = {
        number: i + 1,
        parentHash: last === undefined ? new Uint8Array(32) : hashOf(last),
        firstPosition: FIRST_POSITION + 10 * i,
        lastPosition: FIRST_POSITION + 10 * i + 9,
        ackCount: acks.length,
        acksRoot: rootOfLeafHashes(acks.map(({ leafHash }) => leafHash)),
        ackListHash: ackListHash(list),
        eventsHash: new Uint8Array(32).fill(i),
        timeMs,
      };
      headers.push(encodeBlockHeader(header));
      lists.push(list);
    }
    return { headers, lists };
  }

  /** Signed by the log and cosigned by the witness. */
  checkpoint(headers: readonly Uint8Array[], key = this.key): string {
    return this.cosigned(this.signed(headers, key));
  }

  /** Signed by the log alone. */
  signed(headers: readonly Uint8Array[], key = this.key): string {
    const root = rootOfLeafHashes(headers.map(treeLeafHash));
    return this.note(checkpointText({ origin: key.name, size: headers.length, root }), key);
  }

  note(text: string, key = this.key): string {
    return `${text}\n${signatureLine(key, key.sign(Buffer.from(text)))}`;
  }

  cosigned(note: string): string {
    return note + this.witness.line(note.slice(0, note.lastIndexOf("\n\n") + 1));
  }

  /** A block under the tree of all headers, with its list or without. */
  proven({ headers, lists }: SampleHistory, number: number, hasList = true): ProvenBlock {
    const hashes = headers.map(treeLeafHash);
    const path = inclusionRanges(number - 1, headers.length).map(({ start, end }) =>
      rootOfLeafHashes(hashes.slice(start, end)),
    );
    return provenBlockText(headers[number - 1]!, path, hasList ? lists[number - 1] : undefined);
  }

  /** What the venue promises for the middle acknowledgement of block 4. */
  statement({ headers }: SampleHistory): ReceiptStatement {
    const block = 4;
    const position = FIRST_POSITION + 10 * (block - 1) + 3;
    return {
      venueId: this.venueId,
      position,
      requestHash: requestHashOf(REQUEST),
      address: new Uint8Array(20).fill(0xab),
      session: SESSION,
      leafHash: treeLeafHash(this.leaf(position, block)),
      block,
      timeMs: START_MS + block * BLOCK_MS - 50,
      lastBlockHash: hashOf(headers[block - 2]!),
    };
  }

  /** The second of three statements of a batch. */
  receipt(
    statement: ReceiptStatement,
    receiptKey: Pick<SampleKey, "publicKey" | "sign"> = this.receiptKey,
    key = this.key,
  ): Receipt {
    const others = [1, 2].map((n) => ({ ...statement, position: statement.position + 100 * n }));
    const leaves = [others[0]!, statement, others[1]!].map((each) =>
      treeLeafHash(statementBytes(each)),
    );
    const [first, , last] = leaves;
    return {
      statement,
      index: 1,
      size: 3,
      path: [first!, last!],
      signature: receiptKey.sign(signedRoot(3, rootOfLeafHashes(leaves))),
      receiptKey: receiptKey.publicKey,
      certificate: key.sign(certifiedBytes(statement.venueId, receiptKey.publicKey)),
    };
  }

  file(
    statement: ReceiptStatement,
    more: Pick<ReceiptFile, "leaf" | "request"> = {},
    receipt: Receipt = this.receipt(statement),
    key: NoteKey = this.key,
  ): ReceiptFile {
    return receiptFile(noteKeyText(key), statement, encodeReceipt(receipt), more);
  }

  /** With the leaf, and the request if its hash is that of a statement. */
  leafText(position: number, block: number, nonce?: number): string {
    return base64Url(this.leaf(position, block, nonce));
  }
}

/** The body that a sample receipt is for. */
export const REQUEST = '{"symbol":"BTCUSD","nonce":12533}';

function hashOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha256").update(bytes).digest());
}
