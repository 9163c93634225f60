/**
 * Readers of the soak, a process of their own: sockets that come, read the streams of a market for
 * some seconds and leave, and a few that subscribe and never read. Told a port, they leave the one
 * before.
 */
import { message, upgrade } from "../attacks/wire/frames.js";
import type { Line } from "../attacks/wire/line.js";
import { Network } from "../attacks/wire/network.js";

export interface ReadersPlan {
  readonly port: number;
}

const COMING_AND_GOING = 24;
const SLOW = 4;
const STAY_MS = 8_000;
const AGAIN_MS = 300;
const LOCAL_ADDRESS = "127.0.0.1";
const SLOW_ADDRESS = "127.3.0.1";
const STREAMS = ["BTCUSD", "ETHUSD", "SOLUSD"].map((symbol) => [
  `book.${symbol}`,
  `trades.${symbol}`,
  `ticker.${symbol}`,
  `candles.${symbol}.1m`,
]);
const UNBOUNDED = { bytes: Number.POSITIVE_INFINITY };

/** Reads for a while, then leaves; another takes its place. */
function comeAndGo(network: Network, number: number): void {
  const again = (): void => void setTimeout(() => comeAndGo(network, number + 1), AGAIN_MS);
  network.open({
    onConnect: (line) => line.write(upgrade()),
    onStatus: (line, status) => {
      if (status !== "101") return;
      line.write(message({ op: "subscribe", streams: STREAMS[number % STREAMS.length] }));
      setTimeout(() => leave(line, again), STAY_MS * Math.random());
    },
    onLost: again,
  });
}

function leave(line: Line, again: () => void): void {
  if (!line.isOpen) return;
  line.destroy();
  again();
}

/** Never reads; the venue closes it once too much waits, or finds it silent. */
function readNothing(network: Network): void {
  const line = network.open({
    isUnread: true,
    onConnect: (opened) => {
      opened.write(upgrade());
      opened.write(message({ op: "subscribe", streams: STREAMS.flat(), format: "plain" }));
    },
    onLost: () => void setTimeout(() => readNothing(network), AGAIN_MS),
  });
  // A line that is not read does not learn that it was closed.
  setTimeout(() => {
    if (line === undefined || network.isOver) return;
    line.destroy();
    readNothing(network);
  }, 4 * STAY_MS);
}

class Readers {
  private networks: readonly Network[] = [];

  moveTo({ port }: ReadersPlan): void {
    for (const network of this.networks) network.close();
    const readers = new Network({ port, localAddress: LOCAL_ADDRESS }, UNBOUNDED);
    const slow = new Network({ port, localAddress: SLOW_ADDRESS }, UNBOUNDED);
    this.networks = [readers, slow];
    for (let i = 0; i < COMING_AND_GOING; i++) comeAndGo(readers, i);
    for (let i = 0; i < SLOW; i++) readNothing(slow);
  }
}

const readers = new Readers();
process.on("message", (plan: ReadersPlan) => {
  readers.moveTo(plan);
  process.send?.("done");
});
// The process that started this one is gone.
process.once("disconnect", () => process.exit());
