/**
 * A TCP connection of a load. All connections of a process read into the same buffer, so that what
 * comes in makes next to no garbage, over REST and over sockets alike.
 */
import { connect, type Socket } from "node:net";

const SHARED = Buffer.allocUnsafe(65_536);

/** `onData`: the bytes are only good during the call. `localAddress`: which client this is. */
export function connectLean(
  port: number,
  onData: (chunk: Buffer) => void,
  localAddress = "127.0.0.1",
): Socket {
  return connect({
    port,
    host: "127.0.0.1",
    localAddress,
    noDelay: true,
    onread: {
      buffer: SHARED,
      callback: (bytes) => {
        onData(SHARED.subarray(0, bytes));
        return true;
      },
    },
  });
}
