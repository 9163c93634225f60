/** What an attack sent and what came back. */
export interface Tally {
  readonly bytesSent: number;
  readonly bytesRead: number;
  readonly writes: number;
  readonly connections: number;
  /** Connections that were not established. */
  readonly notConnected: number;
  readonly closedByServer: number;
  /** By HTTP status; `ws ok`, `ws error`, `ws frame` and `ws close <code>` for socket frames. */
  readonly answers: Readonly<Record<string, number>>;
}

export class TallyCounter {
  bytesSent = 0;
  bytesRead = 0;
  writes = 0;
  connections = 0;
  notConnected = 0;
  closedByServer = 0;
  private readonly answers = new Map<string, number>();

  countAnswer(kind: string): void {
    this.answers.set(kind, (this.answers.get(kind) ?? 0) + 1);
  }

  result(): Tally {
    const { bytesSent, bytesRead, writes, connections, notConnected, closedByServer } = this;
    const answers = Object.fromEntries([...this.answers].sort(([a], [b]) => (a < b ? -1 : 1)));
    return { bytesSent, bytesRead, writes, connections, notConnected, closedByServer, answers };
  }
}
