/** `perpgate judge` on the receipts of docs/receipts-vectors.json, against servers with part of a log. */

import { createPrivateKey, sign } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bytesFromHex } from "@perpgate/protocol/core";
import {
  checkpointText,
  parseNoteKey,
  type ReceiptFile,
  receiptFile,
  signatureLine,
} from "@perpgate/protocol/receipts";
import { serve } from "@perpgate/protocol/testing/serve";
import { expect, test } from "vitest";
import { temporaryFolder } from "../testing/perpgate-process.js";
import { TraderShell } from "../testing/trader-shell.js";

interface Vectors {
  readonly logKey: { readonly seed: string; readonly text: string };
  readonly batch: {
    readonly receipts: readonly {
      readonly receipt: string;
      readonly statement: {
        readonly venueId: string;
        readonly requestHash: string;
        readonly address: string;
        readonly position: number;
        readonly block: number;
      };
    }[];
  };
  readonly log: { readonly entries: readonly string[]; readonly checkpoint: string };
}

const path = new URL("../../../../docs/receipts-vectors.json", import.meta.url);
const { logKey, batch, log }: Vectors = JSON.parse(readFileSync(path, "utf8"));

/** The files of the receipts, all for block 2, of a time months ago. */
function receiptFiles(change: (file: ReceiptFile) => unknown = (file) => file): string[] {
  const folder = temporaryFolder();
  return batch.receipts.map(({ receipt, statement }, i) => {
    const { position, block } = statement;
    const context = {
      ...{ position, block, venueId: hex(statement.venueId) },
      ...{ requestHash: hex(statement.requestHash), address: hex(statement.address) },
    };
    const file = join(folder, `${i}.receipt`);
    writeFileSync(file, JSON.stringify(change(receiptFile(logKey.text, context, receipt))));
    return file;
  });
}

function hex(text: string): Uint8Array {
  return bytesFromHex(text) ?? new Uint8Array(0);
}

/** A checkpoint of one block, which does not cover the receipts. */
function shortCheckpoint(): string {
  const der = Buffer.from(`302e020100300506032b657004220420${logKey.seed}`, "hex");
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const key = parseNoteKey(logKey.text)!;
  const text = checkpointText({ origin: key.name, size: 1, root: new Uint8Array(32) });
  return `${text}\n${signatureLine(key, sign(null, Buffer.from(text), privateKey))}`;
}

/** Serves these bodies under `/tlog`; `asked` are the paths of all requests. */
async function serveFiles(
  bodies: Readonly<Record<string, string | Uint8Array>>,
): Promise<{ readonly url: string; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const url = await serve(({ url: path = "" }, reply) => {
    asked.push(path);
    const body = bodies[path.replace("/tlog/", "")];
    reply.writeHead(body === undefined ? 404 : 200).end(body);
  });
  return { url, asked };
}

test("two gateways, one behind and one without a valid checkpoint: overdue in either order", async () => {
  const behind = await serveFiles({ checkpoint: shortCheckpoint() });
  const rubbish = await serveFiles({ checkpoint: "x" });
  const [file = ""] = receiptFiles();
  for (const urls of [`${behind.url},${rubbish.url}`, `${rubbish.url},${behind.url}`]) {
    const { code, stdout } = await new TraderShell(urls).run("judge", file);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^overdue {2}/)]);
  }
});

test("several receipts: what never changes is read once", async () => {
  const headers = log.entries.map(hex);
  const bundle = headers.flatMap((header) => [Buffer.of(0, header.length), header]);
  const { url, asked } = await serveFiles({
    checkpoint: log.checkpoint,
    "tile/entries/000.p/2": Buffer.concat(bundle),
    "tile/0/000.p/2": Buffer.alloc(64),
  });
  const { code, stdout } = await new TraderShell(url).run("judge", ...receiptFiles());
  // Block 1 of the vectors is no header.
  expect([code, stdout.match(/^withheld {2}/gm)]).toEqual([1, Array(3).fill("withheld  ")]);
  expect(asked.toSorted()).toEqual([
    ...Array(3).fill("/tlog/checkpoint"),
    "/tlog/tile/0/000.p/2",
    "/tlog/tile/entries/000.p/2",
  ]);
});

test("a receipt for no block: invalid", async () => {
  const [file = ""] = receiptFiles((each) => ({ ...each, block: -1 }));
  const { code, stdout } = await new TraderShell("http://127.0.0.1:9").run("judge", file);
  expect([code, stdout]).toEqual([1, `invalid  ${file}: its receipt cannot be read\n`]);
});
