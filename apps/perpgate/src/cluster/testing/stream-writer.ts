/** Publishes messages to the stream that no gateway would publish. */

import { connectToAny, subjectOf } from "@perpgate/cluster";
import { CHAIN_BYTES, encodeMessage, type Message } from "@perpgate/journal";

type Connection = Awaited<ReturnType<typeof connectToAny>>;

/** Claims that fit every history. */
export const NO_CLAIMS = {
  claim: { seq: 0, chain: new Uint8Array(CHAIN_BYTES) },
  block: { number: 0, hash: new Uint8Array(32) },
} as const;

export class StreamWriter {
  private constructor(
    private readonly connection: Connection,
    private readonly stream: string,
  ) {}

  static async connect(servers: readonly string[], stream: string): Promise<StreamWriter> {
    return new StreamWriter(await connectToAny({ servers, name: "test" }), stream);
  }

  /** Returns the message's sequence; undefined if the servers refuse it or do not confirm it in time. */
  async publish(message: Message, withinMs = 60_000): Promise<number | undefined> {
    const subject = subjectOf(this.stream, message.writer);
    const answer = await this.connection
      .request(subject, encodeMessage(message), { timeout: withinMs })
      .catch(() => undefined);
    const stored: { readonly seq?: number } = JSON.parse(answer?.string() ?? "{}");
    return stored.seq;
  }

  close(): Promise<void> {
    return this.connection.close();
  }
}
