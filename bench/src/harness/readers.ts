/** A process of sockets that subscribe to a stream, count frames, and report when all have one. */
import { serve } from "./child.js";
import { RawConnection } from "./connection.js";
import type { GatewayAddress } from "./http.js";
import { message } from "./wire.js";

/** The reply to the subscription, and the snapshot. */
const FIRST_FRAMES = 2;

const connections: RawConnection[] = [];
/** Of all sockets. */
let frameCount = 0;
/** By socket, how many frames it lacks of what is awaited. */
const lacking: number[] = [];
let socketsLacking = 0;
let onComplete: () => void = () => undefined;
let arrival: Promise<void> = Promise.resolve();

/** Resolves once every socket has had as many frames more. */
function allHave(count: number): Promise<void> {
  lacking.fill(count);
  socketsLacking = connections.length;
  return new Promise((resolve) => {
    onComplete = resolve;
    if (socketsLacking === 0) resolve();
  });
}

function onFrame(socket: number): void {
  frameCount++;
  if (lacking[socket] === 0) return;
  lacking[socket]!--;
  if (lacking[socket] === 0) socketsLacking--;
  if (socketsLacking === 0) onComplete();
}

const handlers = {
  /** `stream` null: the server sends without a subscription. */
  open: async (address: GatewayAddress, sockets: number, stream: string | null): Promise<void> => {
    for (let i = 0; i < sockets; i++) {
      const connection = await RawConnection.open(address, {});
      connection.onAnswer = () => onFrame(i);
      connections.push(connection);
      lacking.push(0);
    }
    if (stream === null) return;
    const subscribed = allHave(FIRST_FRAMES);
    const bytes = message({ op: "subscribe", streams: [stream] });
    for (const connection of connections) connection.send(bytes);
    await subscribed;
  },
  /** From now on each socket's next frame is awaited. */
  arm: (): void => {
    arrival = allHave(1);
  },
  /** Once the last socket has the frame that `arm` announced: its size. */
  arrived: async (): Promise<number> => {
    await arrival;
    return connections[0]!.frames.lastBytes;
  },
  count: (): number => frameCount,
};
export type ReadersHandlers = typeof handlers;

serve(handlers);
