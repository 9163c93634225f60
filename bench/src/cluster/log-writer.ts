/** A writer of the replicated log that applies nothing: the cost of the log alone. */
import { randomBytes } from "node:crypto";
import { ReplicatedLog } from "@perpgate/cluster";

export class LogWriter {
  private readonly writer = randomBytes(16).toString("hex");
  private counter = -1;
  private log: ReplicatedLog | undefined;
  private resolve: () => void = () => undefined;

  static async open(servers: readonly string[], stream: string): Promise<LogWriter> {
    const self = new LogWriter();
    let end = 0;
    self.log = await ReplicatedLog.open({
      servers,
      stream,
      name: "bench",
      mirror: {
        get end() {
          return end;
        },
        chainTail: () => [],
        append: (sequence) => {
          end = sequence;
          return Promise.resolve();
        },
      },
      hooks: {
        lastBlock: () => ({ number: 0, hash: new Uint8Array(32) }),
        blockHash: () => undefined,
        isLive: () => true,
        room: () => undefined,
      },
      logger: { info: () => undefined, warn: () => undefined },
    });
    await self.log.start(({ id }) => {
      if (id.writer === self.writer) self.resolve();
    });
    return self;
  }

  /** Resolves when the batch is delivered. */
  publish(records: readonly Uint8Array[]): Promise<void> {
    this.counter++;
    return new Promise((resolve) => {
      this.resolve = resolve;
      this.log?.publish({ writer: this.writer, counter: this.counter }, records);
    });
  }

  async close(): Promise<void> {
    await this.log?.close();
  }
}
