/**
 * Evidence that proves its verdict, and a list of forgeries that prove nothing: made from what an honest
 * venue has signed, or from evidence that holds, by changing one thing. Every checker must refuse each
 * forgery and confirm each piece that holds.
 */

import { treeLeafHash } from "../blocks/merkle-path.js";
import { base64, joinBytes } from "../receipts/bytes.js";
import { checkpointText } from "../receipts/checkpoint.js";
import {
  type BlockEvidence,
  type BrokenKind,
  EVIDENCE_FORMAT,
  type ForkEvidence,
  type TwiceEvidence,
} from "../receipts/evidence-file.js";
import { encodeReceipt, type ReceiptStatement, requestHashOf } from "../receipts/receipt.js";
import { NOTE_KEY, noteKeyText } from "../receipts/signed-note.js";
import { consistencyRanges, rootOfLeafHashes } from "../receipts/tree.js";
import {
  REQUEST,
  type SampleBlock,
  type SampleHistory,
  SampleKey,
  SampleLog,
} from "./sample-log.js";
import { TestCosigner } from "./test-cosigner.js";

export interface SampleEvidence {
  readonly name: string;
  readonly text: string;
}

export interface EvidenceSamples {
  /** What the reader has pinned. */
  readonly logKey: string;
  readonly witnessKey: string;
  readonly genuine: readonly (SampleEvidence & { readonly verdict: BrokenKind })[];
  readonly forged: readonly SampleEvidence[];
}

export function evidenceSamples(): EvidenceSamples {
  const log = new SampleLog();
  const makers = new EvidenceMaker(log);
  const forged = [
    ...claimsAgainstHonest(makers),
    ...otherTypes(makers),
    ...otherFields(makers),
    ...otherEncodings(makers),
    ...otherReceipts(makers),
    ...otherCheckpoints(makers),
    ...noForks(makers),
    ...notTwice(makers),
    ...otherFiles(makers),
  ];
  return {
    logKey: log.key.text,
    witnessKey: log.witness.text,
    genuine: genuineEvidence(makers),
    forged: forged.map(([name, evidence]) => ({ name, text: textOf(evidence) })),
  };
}

type Forgery = readonly [name: string, evidence: unknown];

function textOf(evidence: unknown): string {
  return typeof evidence === "string" ? evidence : JSON.stringify(evidence);
}

/** The honest history, the promise that it keeps, and evidence of any claim about it. */
class EvidenceMaker {
  readonly honest: SampleHistory;
  readonly statement: ReceiptStatement;

  constructor(readonly log: SampleLog) {
    this.honest = log.sealed(log.blocks());
    this.statement = log.statement(this.honest);
  }

  /** The history with one block changed before it was sealed. */
  changed(number: number, change: (block: SampleBlock) => SampleBlock): SampleHistory {
    const blocks = this.log.blocks();
    return this.log.sealed(blocks.map((block, i) => (i === number - 1 ? change(block) : block)));
  }

  claim(
    verdict: BlockEvidence["verdict"],
    history: SampleHistory = this.honest,
    number = this.statement.block,
    statement = this.statement,
  ): BlockEvidence {
    const hasList = !/^(forked|misdated)$/.test(verdict);
    return {
      format: EVIDENCE_FORMAT,
      verdict,
      receipt: this.log.file(statement),
      checkpoint: this.log.checkpoint(history.headers),
      block: this.log.proven(history, number, hasList),
    };
  }

  /** Holds: the venue left the acknowledgement out. */
  absent(): BlockEvidence {
    const { position } = this.statement;
    const history = this.changed(4, (block) => ({
      ...block,
      acks: block.acks.filter((ack) => ack.position !== position),
    }));
    return this.claim("absent", history);
  }

  fork(
    larger: readonly Uint8Array[],
    smaller: readonly Uint8Array[],
    hashes = consistency(larger, smaller.length),
  ): ForkEvidence {
    return {
      format: EVIDENCE_FORMAT,
      verdict: "forked",
      receipt: this.log.file(this.statement),
      checkpoint: this.log.checkpoint(larger),
      other: { checkpoint: this.log.checkpoint(smaller), hashes: hashes.map(base64) },
    };
  }

  /** Another history from the fourth block on. */
  rewritten(): readonly Uint8Array[] {
    return this.changed(4, (block) => ({ ...block, acks: [] })).headers;
  }

  twice(change: Partial<ReceiptStatement>, nonce?: number): TwiceEvidence {
    const { position, block } = this.statement;
    const leaf = this.log.leafText(position, block);
    const leafHash = treeLeafHash(this.log.leaf(position, block, nonce));
    const second = { ...this.statement, leafHash, ...change };
    return {
      format: EVIDENCE_FORMAT,
      verdict: "twice",
      receipt: this.log.file(this.statement, { leaf, request: REQUEST }),
      second: this.log.file(second, { leaf: this.log.leafText(position, block, nonce) }),
    };
  }
}

function consistency(headers: readonly Uint8Array[], size: number): Uint8Array[] {
  const leaves = headers.map(treeLeafHash);
  return consistencyRanges(size, headers.length, true).map(({ start, end }) =>
    rootOfLeafHashes(leaves.slice(start, end)),
  );
}

function genuineEvidence(makers: EvidenceMaker): EvidenceSamples["genuine"] {
  const { log, statement, honest } = makers;
  const { position, leafHash, timeMs } = statement;
  const other = { position, leafHash: new Uint8Array(32).fill(7) };
  const different = makers.changed(4, (block) => ({
    ...block,
    acks: block.acks.map((ack) => (ack.position === position ? other : ack)),
  }));
  const moved = makers.changed(5, (block) => ({
    ...block,
    acks: [{ position: position + 10, leafHash }],
  }));
  const early = { ...statement, timeMs: timeMs - 3_600_000 };
  const late = { ...statement, timeMs: timeMs + 3_600_000 };
  const requestHash = new Uint8Array(32).fill(3);
  const pieces = [
    ["absent", makers.absent()],
    ["different", makers.claim("different", different)],
    ["elsewhere", makers.claim("elsewhere", moved, 5)],
    [
      "forked",
      makers.claim(
        "forked",
        makers.changed(3, (b) => ({ ...b, acks: [] })),
        3,
      ),
    ],
    ["forked", makers.fork(honest.headers, makers.rewritten().slice(0, 5))],
    ["forked", makers.fork(honest.headers, makers.rewritten())],
    ["misdated", makers.claim("misdated", honest, 3, early)],
    ["misdated", makers.claim("misdated", honest, 4, late)],
    ["twice", makers.twice({ position: position + 1 })],
    ["twice", makers.twice({ position: position - 8, requestHash })],
  ] as const;
  const spaced = JSON.stringify(makers.absent(), null, 2).replaceAll("—", "\\u2014");
  return [
    ...pieces.map(([verdict, evidence]) => ({
      name: `${verdict} at ${log.key.name}`,
      verdict,
      text: textOf(evidence),
    })),
    { name: "absent, with spaces and escapes", verdict: "absent", text: spaced },
  ];
}

/** Each verdict, claimed about a venue that kept its promise. */
function claimsAgainstHonest(makers: EvidenceMaker): Forgery[] {
  const { statement, honest, log } = makers;
  const kinds = ["absent", "different", "elsewhere", "forked", "misdated"] as const;
  const bounds = [3, 4].map((number): Forgery => {
    const { timeMs } = log.blocks()[number - 1]!;
    const claim = makers.claim("misdated", honest, number, { ...statement, timeMs });
    return [`misdated at the time of block ${number}`, claim];
  });
  return [
    ...kinds.map((kind): Forgery => [`${kind}: it is kept`, makers.claim(kind)]),
    ["absent: by the block before", makers.claim("absent", honest, 3)],
    ["different: by the next block", makers.claim("different", honest, 5)],
    ["elsewhere: by a block without it", makers.claim("elsewhere", honest, 6)],
    ["forked: by the block before, which is the one", makers.claim("forked", honest, 3)],
    ["forked: by an earlier block", makers.claim("forked", honest, 2)],
    ["misdated: by a later block", makers.claim("misdated", honest, 6)],
    ["misdated: by the block before", makers.claim("misdated", honest, 3)],
    ...bounds,
  ];
}

/** Numbers as anything but plain integers below 2^53, in a claim about an honest venue. */
function otherTypes(makers: EvidenceMaker): Forgery[] {
  const { position, block } = makers.statement;
  const written = [
    `"${position}"`,
    `${position}.0`,
    `${position}.5`,
    `${position / 10_000}e4`,
    `-${position}`,
    `[${position}]`,
    "null",
    "true",
    "{}",
    String(2 ** 53 + position),
    `0${position}`,
    String(position + 1),
  ];
  const text = textOf(makers.claim("absent"));
  const genuine = textOf(makers.absent());
  const inPlace = (from: string, to: string, of = text) => of.replace(from, to);
  return [
    ...written.map(
      (literal): Forgery => [
        `the position is ${literal}`,
        inPlace(`"position":${position}`, `"position":${literal}`),
      ],
    ),
    ["the position is a text, in evidence", inPlace(`:${position},`, `:"${position}",`, genuine)],
    ["the position has a point, in evidence", inPlace(`:${position},`, `:${position}.0,`, genuine)],
    ["the block is a text", inPlace(`"block":${block}`, `"block":"${block}"`, genuine)],
    ["the block is another one", inPlace(`"block":${block}`, `"block":${block + 1}`, genuine)],
    ["the verdict is a list", inPlace(`"absent"`, `["absent"]`, genuine)],
    ["the path is a text", { ...makers.absent(), block: { ...makers.absent().block, path: "" } }],
    ["the block is in a list", { ...makers.absent(), block: [makers.absent().block] }],
  ];
}

/** Fields twice, too many or too few, in evidence that would hold. */
function otherFields(makers: EvidenceMaker): Forgery[] {
  const evidence = makers.absent();
  const text = textOf(evidence);
  const { position } = makers.statement;
  const { list: _list, ...listless } = evidence.block;
  const { receipt: _receipt, ...empty } = evidence.receipt;
  const { checkpoint: _checkpoint, ...unsigned } = evidence;
  const twiceNamed = (name: string, value: string) =>
    text.replace(`"position":${position}`, `"${name}":${value},"position":${position}`);
  return [
    ["the position twice", twiceNamed("position", `"${position}"`)],
    ["the position twice, equal", twiceNamed("position", String(position))],
    ["the position twice, by an escape", twiceNamed("positio\\u006e", "1")],
    ["the verdict twice", text.replace("{", `{"verdict":"different",`)],
    ["a prototype", twiceNamed("__proto__", "{}")],
    ["an unknown field", { ...evidence, note: "" }],
    ["an unknown field of the receipt", { ...evidence, receipt: { ...evidence.receipt, ack: {} } }],
    ["a leaf that is not needed", { ...evidence, receipt: { ...evidence.receipt, leaf: "" } }],
    ["an unknown field of the block", { ...evidence, block: { ...evidence.block, number: 4 } }],
    [
      "a second block",
      { ...evidence, other: makers.fork(makers.honest.headers, makers.honest.headers).other },
    ],
    ["no list", { ...evidence, block: listless }],
    ["no receipt", { ...evidence, receipt: empty }],
    ["no checkpoint", unsigned],
    ["a list where none is needed", { ...evidence, verdict: "forked" }],
    ["an unknown verdict", { ...evidence, verdict: "late" }],
    ["another format", { ...evidence, format: "perpgate-evidence/2" }],
    [
      "another format of the receipt",
      { ...evidence, receipt: { ...evidence.receipt, format: "x" } },
    ],
  ];
}

/** The same bytes, encoded otherwise, in evidence that would hold. */
function otherEncodings(makers: EvidenceMaker): Forgery[] {
  const evidence = makers.absent();
  const { block, receipt } = evidence;
  const withBlock = (changes: object) => ({ ...evidence, block: { ...block, ...changes } });
  const withReceipt = (changes: object) => ({ ...evidence, receipt: { ...receipt, ...changes } });
  const [first = "", ...rest] = block.path;
  const { list = "" } = block;
  return [
    ["a header in capitals", withBlock({ header: block.header.toUpperCase() })],
    ["a header with 0x", withBlock({ header: `0x${block.header}` })],
    ["a header with a byte more", withBlock({ header: `${block.header}00` })],
    ["a hash without padding", withBlock({ path: [first.replace(/=+$/, ""), ...rest] })],
    ["a hash with a space", withBlock({ path: [` ${first}`, ...rest] })],
    ["a hash with unused bits", withBlock({ path: [withUnusedBits(first), ...rest] })],
    ["a hash in hex", withBlock({ path: [Buffer.from(first, "base64").toString("hex"), ...rest] })],
    ["a list with a line break", withBlock({ list: `${list}\n` })],
    ["a list in base64url", withBlock({ list: `-${list.slice(1)}` })],
    ["an address with 0X", withReceipt({ address: receipt.address.toUpperCase() })],
    ["an address without 0x", withReceipt({ address: receipt.address.slice(2) })],
    ["an address in capitals", withReceipt({ address: `0x${"AB".repeat(20)}` })],
    ["a request hash with 0x", withReceipt({ requestHash: `0x${receipt.requestHash}` })],
    ["a log key with a space", withReceipt({ logKey: `${receipt.logKey} ` })],
    ["a receipt with padding", withReceipt({ receipt: `${receipt.receipt}=` })],
    ["a receipt in base64", withReceipt({ receipt: toBase64(receipt.receipt) })],
    ["a receipt with a byte more", withReceipt({ receipt: `${receipt.receipt}AAAA` })],
    ["a receipt with a longer number", withReceipt({ receipt: withLongerNumber(receipt.receipt) })],
    ["a receipt of another version", withReceipt({ receipt: `Ag${receipt.receipt.slice(2)}` })],
  ];
}

function withUnusedBits(text: string): string {
  // 32 bytes end with two unused bits before the padding.
  return text.replace(/.=$/, (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}=`);
}

function toBase64(text: string): string {
  return Buffer.from(text, "base64url").toString("base64");
}

/** The session of the samples has one byte; 0x87 0x00 is the same number. */
function withLongerNumber(text: string): string {
  const bytes = Buffer.from(text, "base64url");
  const longer = Buffer.concat([bytes.subarray(0, 1), Buffer.of(0x87, 0), bytes.subarray(2)]);
  return longer.toString("base64url");
}

/** Receipts that the venue did not give, in evidence that would hold with one that it did. */
function otherReceipts(makers: EvidenceMaker): Forgery[] {
  const { log, statement } = makers;
  const evidence = makers.absent();
  const stranger = new SampleLog();
  const receipt = log.receipt(statement);
  const uncertified = new SampleKey();
  const of = (text: string) => ({ ...evidence, receipt: { ...evidence.receipt, receipt: text } });
  const withFields = (changes: object) => ({
    ...evidence,
    receipt: { ...evidence.receipt, ...changes },
  });
  const [one, two] = receipt.path;
  const identity = joinBytes(Uint8Array.of(1), new Uint8Array(31));
  // Under the identity as a key, R = S·B with S = 0 is a signature of everything.
  const anyone = { publicKey: identity, sign: () => joinBytes(identity, new Uint8Array(32)) };
  // The owner of the key can sign so, and part of the world's verifiers refuses it: no promise rests on it.
  const { publicKey } = log.receiptKey;
  const evasive = { publicKey, sign: (m: Uint8Array) => log.receiptKey.signWithNeutralR(m) };
  const weakKey = { name: log.key.name, algorithm: log.key.algorithm, publicKey: identity };
  const theirs = makers.log.file(statement, {}, stranger.receipt(statement));
  return [
    ["another venue's id", withFields({ venueId: "22".repeat(32) })],
    ["another address", withFields({ address: `0x${"cd".repeat(20)}` })],
    ["another request", withFields({ requestHash: "00".repeat(32) })],
    ["a receipt of another log under this key", { ...evidence, receipt: theirs }],
    [
      "the certificate of another key",
      of(encodeReceipt({ ...receipt, certificate: stranger.receipt(statement).certificate })),
    ],
    [
      "a certificate over another venue",
      of(
        encodeReceipt({
          ...receipt,
          certificate: log.receipt({ ...statement, venueId: new Uint8Array(32) }).certificate,
        }),
      ),
    ],
    [
      "a key that is not certified",
      of(
        encodeReceipt({ ...log.receipt(statement, uncertified), certificate: receipt.certificate }),
      ),
    ],
    ["a receipt key of small order", of(encodeReceipt(log.receipt(statement, anyone)))],
    [
      "a receipt signed with an R of small order",
      of(encodeReceipt(log.receipt(statement, evasive))),
    ],
    ["a cut path", of(encodeReceipt({ ...receipt, path: [one!] }))],
    ["a longer path", of(encodeReceipt({ ...receipt, path: [one!, two!, two!] }))],
    ["a swapped path", of(encodeReceipt({ ...receipt, path: [two!, one!] }))],
    ["another index", of(encodeReceipt({ ...receipt, index: 0 }))],
    ["an index beyond the batch", of(encodeReceipt({ ...receipt, index: 3 }))],
    ["another size of the batch", of(encodeReceipt({ ...receipt, size: 4 }))],
    [
      "another leaf",
      of(encodeReceipt({ ...receipt, statement: { ...statement, leafHash: new Uint8Array(32) } })),
    ],
    ["another time", of(encodeReceipt({ ...receipt, statement: { ...statement, timeMs: 1 } }))],
    ["another session", of(encodeReceipt({ ...receipt, statement: { ...statement, session: 8 } }))],
    ["a cut receipt", of(evidence.receipt.receipt.slice(0, 200))],
    ["all of another log", textOf(new EvidenceMaker(stranger).absent())],
    [
      "the key of a witness as the log's",
      withFields({
        logKey: noteKeyText({
          ...log.key,
          publicKey: log.key.publicKey,
          algorithm: NOTE_KEY.cosignature,
        }),
      }),
    ],
    ["a log key of small order", withFields({ logKey: noteKeyText(weakKey) })],
  ];
}

/** Checkpoints that are none, or of something else, in evidence that would hold. */
function otherCheckpoints(makers: EvidenceMaker): Forgery[] {
  const { log, honest } = makers;
  const evidence = makers.absent();
  const { checkpoint, block } = evidence;
  const under = (text: string) => ({ ...evidence, checkpoint: text });
  const withBlock = (changes: object) => ({ ...evidence, block: { ...block, ...changes } });
  const body = checkpoint.slice(0, checkpoint.indexOf("\n\n") + 1);
  const signed = checkpoint.slice(0, checkpoint.lastIndexOf("— "));
  const stranger = new TestCosigner();
  const root = rootOfLeafHashes(honest.headers.map(treeLeafHash));
  const elsewhere = checkpointText({ origin: "other.example/log", size: 7, root });
  const [, size = "", rootText = ""] = body.split("\n");
  const headerAt = (at: number, value: string) =>
    block.header.slice(0, 2 * at) + value + block.header.slice(2 * at + value.length);
  return [
    ["an honest checkpoint", under(log.checkpoint(honest.headers))],
    ["a smaller checkpoint", under(log.checkpoint(honest.headers.slice(0, 3)))],
    ["a larger size", under(checkpoint.replace(`\n${size}\n`, `\n${Number(size) + 1}\n`))],
    [
      "a size with a zero before",
      under(log.cosigned(log.note(`${log.key.name}\n0${size}\n${rootText}\n`))),
    ],
    [
      "a size of 2^53",
      under(log.cosigned(log.note(`${log.key.name}\n9007199254740992\n${rootText}\n`))),
    ],
    ["a checkpoint of another origin", under(log.cosigned(log.note(elsewhere)))],
    [
      "a checkpoint by another key of the name",
      under(log.checkpoint(honest.headers, new SampleKey())),
    ],
    ["a checkpoint that nobody signed", under(`${body}\n`)],
    ["a checkpoint without the log's signature", under(`${body}\n${log.witness.line(body)}`)],
    ["a checkpoint with carriage returns", under(checkpoint.replaceAll("\n", "\r\n"))],
    ["a checkpoint without its last line break", under(checkpoint.slice(0, -1))],
    ["a second signature that does not hold", under(checkpoint + log.note("x\n").split("\n\n")[1])],
    ["a checkpoint without a cosignature", under(signed)],
    ["a cosignature under the witness's name", under(signed + stranger.line(body))],
    ["a forged cosignature", under(signed + stranger.line(body, log.witness.key))],
    ["a cosignature of another checkpoint", under(signed + log.witness.line(`${body}x\n`))],
    ["a cut path to the checkpoint", withBlock({ path: block.path.slice(1) })],
    ["a longer path to the checkpoint", withBlock({ path: [...block.path, block.path[0]] })],
    [
      "a hash of 31 bytes",
      withBlock({ path: [base64(new Uint8Array(31)), ...block.path.slice(1)] }),
    ],
    ["no path", withBlock({ path: [] })],
    ["a header with another number", withBlock({ header: headerAt(8, "05") })],
    ["a header with another time", withBlock({ header: headerAt(168, "00") })],
    ["a header of another format", withBlock({ header: headerAt(7, "33") })],
    ["an empty list", withBlock({ list: "" })],
    ["a list of another block", withBlock({ list: base64(honest.lists[4]!) })],
    [
      "a list in another order",
      withBlock({ list: base64(swapped(Buffer.from(block.list ?? "", "base64"))) }),
    ],
  ];
}

function swapped(list: Uint8Array): Uint8Array {
  return joinBytes(list.slice(40, 80), list.slice(0, 40), list.slice(80));
}

/** Two checkpoints that one log can have, or of which one counts as none. */
function noForks(makers: EvidenceMaker): Forgery[] {
  const { log, honest } = makers;
  const { headers } = honest;
  const four = headers.slice(0, 4);
  const leaves = headers.map(treeLeafHash);
  const root = (start: number, end: number) => rootOfLeafHashes(leaves.slice(start, end));
  const real = makers.fork(headers, makers.rewritten().slice(0, 5));
  const shifted = [root(0, 2).slice(0, 31), joinBytes(root(0, 2).slice(31), root(2, 4))];
  const lonely = log.signed(makers.rewritten().slice(0, 5));
  const stranger = log.checkpoint(makers.rewritten().slice(0, 5), new SampleKey());
  const unchecked = (larger: readonly Uint8Array[], smaller: readonly Uint8Array[]) =>
    makers.fork(larger, smaller, [root(0, larger.length)]);
  return [
    ["two checkpoints that agree", makers.fork(headers, four)],
    ["one checkpoint twice", makers.fork(headers, headers)],
    ["the larger one as the other", unchecked(four, headers)],
    ["an empty checkpoint", makers.fork(four, [], [root(0, 2), root(2, 4)])],
    [
      "surplus hashes",
      makers.fork(four, headers.slice(0, 2), [leaves[2]!, leaves[3]!, root(0, 2)]),
    ],
    ["surplus hashes of one size", makers.fork(four, four, [root(0, 4), root(0, 2)])],
    ["hashes of other lengths", makers.fork(four, headers.slice(0, 2), shifted)],
    ["no hashes", makers.fork(four, headers.slice(0, 2), [])],
    ["a fork without a cosignature", { ...real, other: { ...real.other, checkpoint: lonely } }],
    ["a fork whose larger one lacks it", { ...real, checkpoint: log.signed(headers) }],
    ["a fork by another key", { ...real, other: { ...real.other, checkpoint: stranger } }],
    ["a fork claimed as absent", { ...real, verdict: "absent" }],
    [
      "a fork with the hash of one block more",
      { ...real, other: { ...real.other, hashes: [...real.other.hashes, base64(leaves[0]!)] } },
    ],
  ];
}

/** Two receipts that an honest venue gives. */
function notTwice(makers: EvidenceMaker): Forgery[] {
  const { log, statement } = makers;
  const { position, block } = statement;
  const real = makers.twice({ position: position + 1 });
  const batch = '{"nonce":12533,"operations":[{},{},{}]}';
  const requestHash = requestHashOf(batch);
  const leaf = log.leafText(position, block);
  const operation = (distance: number) => ({
    ...statement,
    requestHash,
    position: position + distance,
  });
  const batchOf = (distance: number, request?: string) => ({
    ...real,
    receipt: log.file(operation(0), { leaf, ...(request === undefined ? {} : { request }) }),
    second: log.file(operation(distance), { leaf }),
  });
  const { request: _request, ...bodiless } = real.receipt;
  const stranger = new EvidenceMaker(new SampleLog()).twice({ position: position + 1 });
  const withSecond = (changes: object) => ({ ...real, second: { ...real.second, ...changes } });
  return [
    ["twice: one receipt", { ...real, second: { ...real.second, ...log.file(statement) } }],
    ["twice: another nonce", makers.twice({ position: position + 1 }, 5)],
    ["twice: another session", makers.twice({ position: position + 1, session: 8 })],
    ["twice: another venue", makers.twice({ position: position + 1, venueId: new Uint8Array(32) })],
    ["twice: two operations of a batch", batchOf(2, batch)],
    ["twice: a batch without its request", batchOf(3)],
    ["twice: the request of something else", batchOf(3, REQUEST)],
    ["twice: no request", { ...real, receipt: bodiless }],
    ["twice: the leaf of another nonce", withSecond({ leaf: log.leafText(position, block, 5) })],
    ["twice: a leaf that is no acknowledgement", withSecond({ leaf: "AAAA" })],
    ["twice: a leaf with padding", withSecond({ leaf: `${real.second.leaf}=` })],
    ["twice: no leaf", withSecond({ leaf: undefined })],
    ["twice: the position as a text", withSecond({ position: String(position) })],
    ["twice: a receipt of another log", { ...real, second: stranger.second }],
    ["twice: a request in the second", withSecond({ request: REQUEST })],
    ["twice: a checkpoint", { ...real, checkpoint: "" }],
  ];
}

/** Files that are no evidence. */
function otherFiles(makers: EvidenceMaker): Forgery[] {
  const text = textOf(makers.absent());
  return [
    ["nothing in braces", "{}"],
    ["a list", `[${text}]`],
    ["something after it", `${text} {}`],
    ["a byte order mark", `{\uFEFF${text.slice(1)}`],
    ["a comment", `{/**/${text.slice(1)}`],
    ["a last comma", text.replace(/\}$/, ",}")],
    ["cut", text.slice(0, -10)],
    ["nested without end", "[".repeat(5_000)],
  ];
}
