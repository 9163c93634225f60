/** One request and its answer, over the link or as the same number of bytes; the edge's side of both. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import {
  type AnswerBodies,
  connectToCore,
  EdgeLink,
  FrameEncoder,
  type RequestBodies,
} from "@perpgate/link";

const RAW_SOCKET = "raw.sock";
const STAMP = { epoch: 1, position: 2 ** 32 };

const ORDER: AnswerBodies["getOrder"] = {
  result: {
    orderId: "4294967296",
    symbol: "BTCUSD",
    side: "long",
    type: "limit",
    status: "resting",
    price: 65_000.5,
    size: 0.015,
    filledSize: 0,
    remainingSize: 0.015,
    avgFillPrice: 0,
    margin: 100,
    leverage: 10,
    reduceOnly: false,
    postOnly: false,
    nonce: 1_000_000,
    reason: "",
    createdAt: 1_800_000_000_000,
    updatedAt: 1_800_000_000_000,
    clientOrderId: null,
    timeInForce: "gtc",
    expiresAt: null,
    trigger: null,
    limitPrice: null,
    closePosition: false,
  },
};

/** A read with the fields of an order, and a body of 300 signed bytes with a short answer. */
export type Sample = "getOrder" | "getDepositQueue";
export const SAMPLES: {
  readonly [N in Sample]: { readonly body: RequestBodies[N]; readonly answer: AnswerBodies[N] };
} = {
  getOrder: {
    body: { session: 1, params: { id: "4294967296" }, query: {} },
    answer: ORDER,
  },
  getDepositQueue: {
    body: {
      body: {
        venue: "a".repeat(64),
        attestor: 1,
        chain: "ethereum",
        queue: "pending",
        order: "ascending",
        after: "0",
        since: 1_800_000_000_000,
        time: 1_800_000_000_000,
      },
      bytes: Buffer.alloc(300, 7),
      signature: "s".repeat(88),
    },
    answer: { result: { deposits: [], next: null } },
  },
};

export interface LinkExchange {
  request(): Promise<unknown>;
  close(): void;
}

export async function openExchange(
  folder: string,
  sample: Sample,
  isRaw: boolean,
): Promise<LinkExchange> {
  return isRaw ? openRaw(folder, sample) : openLink(folder, sample);
}

async function openLink(folder: string, sample: Sample): Promise<LinkExchange> {
  const link = new EdgeLink(await connectToCore(folder));
  await link.ready;
  const request =
    sample === "getOrder"
      ? () => link.request("getOrder", SAMPLES.getOrder.body)
      : () => link.request("getDepositQueue", SAMPLES.getDepositQueue.body);
  return { request, close: () => link.close() };
}

async function openRaw(folder: string, sample: Sample): Promise<LinkExchange> {
  const { asked, answered } = sizesOf(sample);
  const socket = connect(join(folder, RAW_SOCKET));
  await once(socket, "connect");
  const waiting: (() => void)[] = [];
  let settled = 0;
  const send = exchangeRaw(socket, answered, asked, () => {
    waiting[settled++]?.();
    if (settled === waiting.length) {
      waiting.length = 0;
      settled = 0;
    }
  });
  return {
    request: () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve);
        send();
      }),
    close: () => socket.destroy(),
  };
}

/** The core's side: as many bytes for each request as its answer has. */
export async function listenRaw(folder: string, sample: Sample): Promise<void> {
  const { asked, answered } = sizesOf(sample);
  const server = createServer((socket) => {
    const send = exchangeRaw(socket, asked, answered, () => send());
  });
  server.listen(join(folder, RAW_SOCKET));
  await once(server, "listening");
}

/** Calls for every `inBytes` that arrive; the function that it returns sends `outBytes`, once per turn. */
function exchangeRaw(
  socket: Socket,
  inBytes: number,
  outBytes: number,
  onMessage: () => void,
): () => void {
  let left = 0;
  let due = 0;
  socket.on("data", (chunk: Buffer) => {
    left += chunk.length;
    for (; left >= inBytes; left -= inBytes) onMessage();
  });
  return () => {
    if (due++ > 0) return;
    setImmediate(() => {
      socket.write(Buffer.allocUnsafe(due * outBytes));
      due = 0;
    });
  };
}

function sizesOf(sample: Sample): { readonly asked: number; readonly answered: number } {
  const notes = { counted: undefined, rows: 0, work: 0, isReplay: false, historyBefore: 0 };
  const [request, answer] = [new FrameEncoder(), new FrameEncoder()];
  const head = { ...STAMP, id: 1_000, name: sample };
  const once = { isAgain: false, terms: undefined };
  request.add({ ...head, ...once, kind: "request", body: SAMPLES[sample].body });
  answer.add({ ...head, kind: "answer", notes, body: SAMPLES[sample].answer });
  return { asked: request.length, answered: answer.length };
}
