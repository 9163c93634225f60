/**
 * A venue that publishes another history than the one it gave receipts for: it takes the blocks of an
 * honest log, lets a test change them, chains and signs them again with the venue's own log key, and serves
 * them as the real gateway does.
 */

import { createHash, type KeyObject, sign } from "node:crypto";
import { createServer } from "node:http";
import { type BlockHeader, encodeBlockHeader } from "@perpgate/protocol";
import {
  ackListHash,
  checkpointText,
  joinBytes,
  type ListedAck,
  type NoteKey,
  parseTilePath,
  rootOfLeafHashes,
  signatureLine,
  treeLeafHash,
  u64,
} from "@perpgate/protocol/receipts";
import { listening } from "@perpgate/protocol/testing";
import { LogReader } from "@perpgate/sdk";

export interface DishonestBlock {
  header: BlockHeader;
  acks: ListedAck[];
}

/** The blocks of the log that a venue publishes. */
export async function publishedBlocks(
  url: string,
  checkpoint: { readonly origin: string; readonly size: number; readonly root: Uint8Array },
): Promise<DishonestBlock[]> {
  const reader = new LogReader(url);
  const blocks: DishonestBlock[] = [];
  for (let number = 1; number <= checkpoint.size; number++) {
    const block = await reader.block(number, checkpoint);
    const { acks } = await reader.acks(block);
    blocks.push({ header: block.header, acks });
  }
  return blocks;
}

export interface DishonestLog {
  readonly url: string;
  /** The signed note. */
  readonly checkpoint: string;
  close(): void;
}

/** `withheld` names what is not handed out: part of a path. */
export async function publish(
  blocks: readonly DishonestBlock[],
  key: NoteKey & { readonly privateKey: KeyObject },
  withheld?: string,
): Promise<DishonestLog> {
  const headers: Uint8Array[] = [];
  const lists: Uint8Array[] = [];
  for (const { header, acks } of blocks) {
    const list = joinBytes(...acks.flatMap(({ position, leafHash }) => [u64(position), leafHash]));
    const last = headers.at(-1);
    const parentHash =
      last === undefined
        ? header.parentHash
        : new Uint8Array(createHash("sha256").update(last).digest());
    const acksRoot = rootOfLeafHashes(acks.map(({ leafHash }) => leafHash));
    const changed = { parentHash, acksRoot, ackListHash: ackListHash(list), ackCount: acks.length };
    headers.push(encodeBlockHeader({ ...header, ...changed }));
    lists.push(list);
  }
  const hashes = headers.map(treeLeafHash);
  const size = headers.length;
  const text = checkpointText({ origin: key.name, size, root: rootOfLeafHashes(hashes) });
  const line = signatureLine(key, sign(null, Buffer.from(text), key.privateKey));
  const checkpoint = `${text}\n${line}`;
  const bodyOf = (path: string): Uint8Array | undefined => {
    if (withheld !== undefined && path.includes(withheld)) return undefined;
    if (path === "/tlog/checkpoint") return Buffer.from(checkpoint);
    const acks = /^\/tlog\/acks\/(\d+)$/.exec(path)?.[1];
    if (acks !== undefined) return lists[Number(acks) - 1];
    const named = parseTilePath(path.slice("/tlog/".length));
    if (named === undefined || named.tile.level > 0 || named.tile.index > 0) return undefined;
    if (!named.isEntries) return joinBytes(...hashes.slice(0, named.tile.width));
    return joinBytes(
      ...headers.flatMap((header) => [Uint8Array.of(header.length >> 8, header.length), header]),
    );
  };
  const server = createServer((request, response) => {
    const body = bodyOf(request.url ?? "");
    response.statusCode = body === undefined ? 404 : 200;
    response.end(body);
  });
  return {
    url: `http://127.0.0.1:${await listening(server)}`,
    checkpoint,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
