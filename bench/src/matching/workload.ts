/**
 * Messages of the public matching-engine harness (flash1-dev/matching-engine-benchmark), as columns. A
 * message's sequence number is its index.
 */

export const NEW = 0;
export const CANCEL = 1;
export const MODIFY = 2;
export const BUY = 0;
export const SELL = 1;

/** The file's bytes before the first message, and of each message. */
const HEADER_BYTES = 16;
const MESSAGE_BYTES = 40;
const MAGIC = 0x4d45_4257_5f30_3031n;
const VERSION = 1;

export class Workload {
  readonly type: Uint8Array;
  readonly side: Uint8Array;
  /** 1: immediate or cancel. */
  readonly ioc: Uint8Array;
  readonly lots: Uint32Array;
  /** The harness's order id, from 1. */
  readonly order: Uint32Array;
  readonly price: Int32Array;

  constructor(readonly length: number) {
    this.type = new Uint8Array(length);
    this.side = new Uint8Array(length);
    this.ioc = new Uint8Array(length);
    this.lots = new Uint32Array(length);
    this.order = new Uint32Array(length);
    this.price = new Int32Array(length);
  }

  get largestOrder(): number {
    return this.order.reduce((largest, id) => Math.max(largest, id), 0);
  }
}

/**
 * Reads a file of the harness's generator.
 *
 * @throws Error if it is not one of this version, or incomplete.
 */
export function readWorkload(bytes: Uint8Array): Workload {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < HEADER_BYTES || view.getBigUint64(0, true) !== MAGIC) {
    throw new Error("not a workload of the matching-engine harness");
  }
  const version = view.getUint32(8, true);
  if (version !== VERSION) throw new Error(`workload version ${version}, not ${VERSION}`);
  const length = view.getUint32(12, true);
  if (bytes.length !== HEADER_BYTES + length * MESSAGE_BYTES) throw new Error("workload cut short");
  const workload = new Workload(length);
  for (let i = 0; i < length; i++) {
    const at = HEADER_BYTES + i * MESSAGE_BYTES;
    workload.type[i] = view.getUint8(at);
    workload.side[i] = view.getUint8(at + 1);
    workload.ioc[i] = view.getUint8(at + 2);
    workload.lots[i] = view.getUint32(at + 4, true);
    if (Number(view.getBigUint64(at + 8, true)) !== i)
      throw new Error(`message ${i}: not in order`);
    workload.order[i] = Number(view.getBigUint64(at + 16, true));
    workload.price[i] = Number(view.getBigInt64(at + 24, true));
  }
  return workload;
}
