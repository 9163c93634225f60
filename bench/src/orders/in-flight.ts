/**
 * Orders under way, in memory that two threads share: one sends each when it is due, the other reads
 * the answers. With a message between the two for each order, the load would wake threads more often
 * than the orders themselves do, on the cores of the server under test.
 */

/** What goes to the other thread. */
export interface SharedFlight {
  readonly requestBytes: SharedArrayBuffer;
  /** Where each request ends in those bytes. */
  readonly requestEnds: SharedArrayBuffer;
  /** By order. */
  readonly dueNs: SharedArrayBuffer;
  readonly sentNs: SharedArrayBuffer;
  /** By connection, the order under way on it. */
  readonly orderOn: SharedArrayBuffer;
  /** Two counters, then a ring with room for every connection. */
  readonly idle: SharedArrayBuffer;
}

const TAKEN = 0;
const PUT = 1;
const RING = 2;

export class InFlight {
  readonly count: number;
  readonly dueNs: BigInt64Array;
  readonly sentNs: BigInt64Array;
  private readonly requestBytes: Uint8Array;
  private readonly requestEnds: Uint32Array;
  private readonly orderOn: Int32Array;
  private readonly idle: Int32Array;
  private readonly connections: number;

  constructor(readonly shared: SharedFlight) {
    this.requestBytes = new Uint8Array(shared.requestBytes);
    this.requestEnds = new Uint32Array(shared.requestEnds);
    this.dueNs = new BigInt64Array(shared.dueNs);
    this.sentNs = new BigInt64Array(shared.sentNs);
    this.orderOn = new Int32Array(shared.orderOn);
    this.idle = new Int32Array(shared.idle);
    this.count = this.requestEnds.length;
    this.connections = this.orderOn.length;
  }

  /** All connections idle. */
  static of(requests: readonly Buffer[], connections: number): InFlight {
    const ends = new Uint32Array(new SharedArrayBuffer(4 * requests.length));
    let end = 0;
    for (const [i, { length }] of requests.entries()) {
      end += length;
      ends[i] = end;
    }
    const bytes = new Uint8Array(new SharedArrayBuffer(end));
    for (const [i, request] of requests.entries()) bytes.set(request, ends[i]! - request.length);
    const flight = new InFlight({
      requestBytes: bytes.buffer,
      requestEnds: ends.buffer,
      dueNs: new SharedArrayBuffer(8 * requests.length),
      sentNs: new SharedArrayBuffer(8 * requests.length),
      orderOn: new SharedArrayBuffer(4 * connections),
      idle: new SharedArrayBuffer(4 * (RING + connections)),
    });
    for (let i = 0; i < connections; i++) flight.putIdle(i);
    return flight;
  }

  request(order: number): Uint8Array {
    const begin = order === 0 ? 0 : this.requestEnds[order - 1]!;
    return this.requestBytes.subarray(begin, this.requestEnds[order]);
  }

  /** For the sending thread: a connection that has no order under way, once there is one. */
  takeIdle(): number {
    const { idle } = this;
    const taken = idle[TAKEN]!;
    while (Atomics.load(idle, PUT) === taken) Atomics.wait(idle, PUT, taken);
    idle[TAKEN] = taken + 1;
    return idle[RING + (taken % this.connections)]!;
  }

  /** For the reading thread. */
  putIdle(connection: number): void {
    const { idle } = this;
    const put = Atomics.load(idle, PUT);
    idle[RING + (put % this.connections)] = connection;
    Atomics.store(idle, PUT, put + 1);
    Atomics.notify(idle, PUT);
  }

  setOrderOn(connection: number, order: number): void {
    Atomics.store(this.orderOn, connection, order);
  }

  getOrderOn(connection: number): number {
    return Atomics.load(this.orderOn, connection);
  }
}
