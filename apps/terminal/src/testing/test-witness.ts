/**
 * A witness by C2SP tlog-witness for tests: it cosigns every checkpoint that it is given. That a real one
 * checks them first is tested with the log.
 */

import { createServer, type Server } from "node:http";
import { parseNote } from "@perpgate/protocol/receipts";
import { TestCosigner } from "@perpgate/protocol/testing";

export class TestWitness {
  private readonly cosigner = new TestCosigner();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<TestWitness> {
    const server = createServer();
    const witness = new TestWitness(server);
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
    return { url: `http://127.0.0.1:${address.port}`, key: this.cosigner.text };
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** The request is the old size, the proof, an empty line, and the checkpoint. */
  private cosign(request: string): string {
    const note = parseNote(request.slice(request.indexOf("\n\n") + 2));
    if (note === undefined) throw new Error(`no checkpoint in ${request}`);
    return this.cosigner.line(note.text);
  }
}
