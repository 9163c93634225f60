#!/usr/bin/env node
/**
 * Writes docs/receipts-vectors.json: fixed keys and values with every byte that follows from them, for
 * implementations in other languages. Ed25519 signatures are deterministic, so the file never changes
 * unless a format does.
 */

import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { encodeBlockHeader } from "@perpgate/protocol/core";
import {
  ackListHash,
  certifiedBytes,
  checkpointText,
  encodeReceipt,
  inclusionRanges,
  joinBytes,
  NOTE_KEY,
  noteKeyText,
  rootOfLeafHashes,
  signatureLine,
  signedRoot,
  statementBytes,
  treeLeafHash,
  u64,
} from "@perpgate/protocol/receipts";

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const fill = (byte, length = 32) => new Uint8Array(length).fill(byte);

function keyOf(seedByte) {
  const seed = fill(seedByte);
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(privateKey)
    .export({ format: "der", type: "spki" })
    .subarray(-32);
  return { seed, privateKey, publicKey: new Uint8Array(publicKey) };
}

export function receiptVectors() {
  const log = keyOf(1);
  const receiptKey = keyOf(2);
  const noteKey = {
    name: "venue.example/log",
    algorithm: NOTE_KEY.ed25519,
    publicKey: log.publicKey,
  };
  const venueId = fill(0x11);
  const certified = certifiedBytes(venueId, receiptKey.publicKey);
  const certificate = sign(null, certified, log.privateKey);
  const statements = [1, 2, 3].map((n) => ({
    venueId,
    position: 1_000 + n,
    requestHash: fill(0x20 + n),
    address: fill(0x30 + n, 20),
    session: n === 3 ? 2 ** 32 + 7 : 100 * n,
    leafHash: fill(0x40 + n),
    block: 2,
    timeMs: 1_780_318_800_000 + n,
    lastBlockHash: fill(0x50),
  }));
  const leaves = statements.map((statement) => treeLeafHash(statementBytes(statement)));
  const root = rootOfLeafHashes(leaves);
  const signed = signedRoot(leaves.length, root);
  const signature = sign(null, signed, receiptKey.privateKey);
  const receipts = statements.map((statement, index) => ({
    statement: {
      venueId: hex(statement.venueId),
      position: statement.position,
      requestHash: hex(statement.requestHash),
      address: hex(statement.address),
      session: statement.session,
      leafHash: hex(statement.leafHash),
      block: statement.block,
      timeMs: statement.timeMs,
      lastBlockHash: hex(statement.lastBlockHash),
    },
    statementBytes: hex(statementBytes(statement)),
    statementLeafHash: hex(leaves[index]),
    receipt: encodeReceipt({
      statement,
      index,
      size: leaves.length,
      path: inclusionRanges(index, leaves.length).map(({ start, end }) =>
        rootOfLeafHashes(leaves.slice(start, end)),
      ),
      signature,
      receiptKey: receiptKey.publicKey,
      certificate,
    }),
  }));
  const list = joinBytes(
    ...statements.flatMap(({ position, leafHash }) => [u64(position), leafHash]),
  );
  const header = {
    number: 2,
    parentHash: fill(0x50),
    firstPosition: 990,
    lastPosition: 1_010,
    ackCount: statements.length,
    acksRoot: rootOfLeafHashes(statements.map(({ leafHash }) => leafHash)),
    ackListHash: ackListHash(list),
    eventsHash: fill(0x60),
    timeMs: 1_780_318_800_200,
  };
  const first = fill(0x70, 176);
  const entries = [first, encodeBlockHeader(header)];
  const checkpoint = {
    origin: noteKey.name,
    size: entries.length,
    root: rootOfLeafHashes(entries.map(treeLeafHash)),
  };
  const text = checkpointText(checkpoint);
  const line = signatureLine(noteKey, sign(null, Buffer.from(text), log.privateKey));
  return {
    logKey: { seed: hex(log.seed), publicKey: hex(log.publicKey), text: noteKeyText(noteKey) },
    receiptKey: {
      seed: hex(receiptKey.seed),
      publicKey: hex(receiptKey.publicKey),
      certifiedBytes: hex(certified),
      certificate: hex(certificate),
    },
    batch: {
      size: leaves.length,
      root: hex(root),
      signedRoot: hex(signed),
      signature: hex(signature),
      receipts,
    },
    block: {
      ackList: hex(list),
      ackListHash: hex(header.ackListHash),
      acksRoot: hex(header.acksRoot),
      header: hex(entries[1]),
    },
    log: { entries: entries.map(hex), root: hex(checkpoint.root), checkpoint: `${text}\n${line}` },
  };
}

export const VECTORS_FILE = fileURLToPath(
  new URL("../docs/receipts-vectors.json", import.meta.url),
);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(VECTORS_FILE, `${JSON.stringify(receiptVectors(), null, 2)}\n`);
}
