/**
 * A witness by C2SP tlog-witness for tests: it cosigns every checkpoint that it is given. That a real one
 * checks them first is tested with the log.
 */

import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer, type Server } from "node:http";
import {
  NOTE_KEY,
  type NoteKey,
  noteKeyText,
  parseNote,
  signatureLine,
} from "@perpgate/protocol/receipts";

export const WITNESS_NAME = "witness.example/w1";

export class TestWitness {
  private constructor(
    private readonly server: Server,
    private readonly privateKey: KeyObject,
    private readonly key: NoteKey,
  ) {}

  static async start(): Promise<TestWitness> {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
    const key: NoteKey = {
      name: WITNESS_NAME,
      algorithm: NOTE_KEY.cosignature,
      publicKey: new Uint8Array(raw),
    };
    const server = createServer();
    const witness = new TestWitness(server, privateKey, key);
    server.on("request", (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => response.end(witness.cosign(Buffer.concat(chunks).toString())));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return witness;
  }

  /** As an entry of `receipts.witnesses`. */
  get setting(): { readonly url: string; readonly key: string } {
    const address = this.server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return { url: `http://127.0.0.1:${address.port}`, key: noteKeyText(this.key) };
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** The request is the old size, the proof, an empty line, and the checkpoint. */
  private cosign(request: string): string {
    const note = parseNote(request.slice(request.indexOf("\n\n") + 2));
    if (note === undefined) throw new Error(`no checkpoint in ${request}`);
    const time = BigInt(Math.floor(Date.now() / 1_000));
    const message = `cosignature/v1\ntime ${time}\n${note.text}`;
    const timed = Buffer.alloc(8);
    timed.writeBigUInt64BE(time);
    const signature = sign(null, Buffer.from(message), this.privateKey);
    return signatureLine(this.key, new Uint8Array(Buffer.concat([timed, signature])));
  }
}
