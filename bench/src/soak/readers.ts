/**
 * Readers of the soak, a process: sockets that connect, read the streams of a market for some seconds
 * and leave, and a few that subscribe and never read.
 */
import type { AttackLine } from "../attacks/wire/line.js";
import { AttackNetwork } from "../attacks/wire/network.js";
import { serve } from "../harness/child.js";
import { message, upgrade } from "../harness/wire.js";

const SHORT_LIVED = 24;
const SLOW = 4;
const STAY_MS = 8_000;
const RECONNECT_MS = 300;
const STREAMS = ["BTCUSD", "ETHUSD", "SOLUSD"].map((symbol) =>
  ["book", "trades", "ticker"].map((kind) => `${kind}.${symbol}`).concat(`candles.${symbol}.1m`),
);
const UNBOUNDED = { bytes: Number.POSITIVE_INFINITY };

/** Reads for a while, then leaves; another takes its place. */
function readForAWhile(network: AttackNetwork, number: number): void {
  const again = (): void => {
    setTimeout(() => readForAWhile(network, number + 1), RECONNECT_MS);
  };
  const leave = (line: AttackLine): void => {
    if (!line.isOpen) return;
    line.destroy();
    again();
  };
  network.open({
    onConnect: (line) => line.write(upgrade()),
    onStatus: (line, status) => {
      if (status !== "101") return;
      line.write(message({ op: "subscribe", streams: STREAMS[number % STREAMS.length] }));
      setTimeout(() => leave(line), STAY_MS * Math.random());
    },
    onLost: again,
  });
}

/** Never reads; the venue closes it when too much is buffered, or because it is silent. */
function readNothing(network: AttackNetwork): void {
  const line = network.open({
    isUnread: true,
    onConnect: (opened) => {
      opened.write(upgrade());
      opened.write(message({ op: "subscribe", streams: STREAMS.flat(), format: "plain" }));
    },
    onLost: () => void setTimeout(() => readNothing(network), RECONNECT_MS),
  });
  // A line that is not read does not notice that it was closed.
  setTimeout(() => {
    if (line === undefined || network.isOver) return;
    line.destroy();
    readNothing(network);
  }, 4 * STAY_MS);
}

const networks: AttackNetwork[] = [];
const handlers = {
  /** Leaves the server before, if any. */
  connect: (port: number): void => {
    for (const network of networks.splice(0)) network.close();
    const readers = new AttackNetwork({ port, localAddress: "127.0.0.1" }, UNBOUNDED);
    const slow = new AttackNetwork({ port, localAddress: "127.3.0.1" }, UNBOUNDED);
    networks.push(readers, slow);
    for (let i = 0; i < SHORT_LIVED; i++) readForAWhile(readers, i);
    for (let i = 0; i < SLOW; i++) readNothing(slow);
  },
};
export type SoakReaders = typeof handlers;

serve(handlers);
