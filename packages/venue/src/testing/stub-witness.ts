/** A witness as an HTTP server of this process: it cosigns every checkpoint, unless a test decides otherwise. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type NoteKey, parseNote } from "@perpgate/protocol/receipts";
import { TestCosigner } from "@perpgate/protocol/testing";

export interface StubAnswer {
  readonly status: number;
  readonly text?: string;
}

export class StubWitness {
  /** Decides the next answers; undefined cosigns. */
  onCheckpoint: () => Promise<StubAnswer | undefined> = async () => undefined;
  private readonly cosigner: TestCosigner;

  private constructor(
    private readonly server: Server,
    name: string | undefined,
  ) {
    this.cosigner = new TestCosigner(name);
  }

  static async start(name?: string): Promise<StubWitness> {
    const server = createServer();
    const witness = new StubWitness(server, name);
    server.on("request", (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", async () => {
        const { status, text } =
          (await witness.onCheckpoint()) ?? witness.cosign(Buffer.concat(chunks).toString());
        response.writeHead(status).end(text);
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return witness;
  }

  get key(): NoteKey {
    return this.cosigner.key;
  }

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return `http://127.0.0.1:${address.port}`;
  }

  /** As an entry of `receipts.witnesses`. */
  get setting(): { readonly url: string; readonly key: string } {
    return { url: this.url, key: this.cosigner.text };
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** The request is the old size, the proof, an empty line, and the checkpoint. */
  private cosign(request: string): StubAnswer {
    const note = parseNote(request.slice(request.indexOf("\n\n") + 2));
    if (note === undefined) throw new Error(`no checkpoint in ${request}`);
    return { status: 200, text: this.cosigner.line(note.text) };
  }
}
