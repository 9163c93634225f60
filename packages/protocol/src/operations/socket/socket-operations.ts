/** Every operation of the socket, in the order of the AsyncAPI document. */

import { socketAmend } from "./amend.js";
import { socketAuth } from "./auth.js";
import { socketBatch } from "./batch.js";
import { socketCancel } from "./cancel.js";
import { socketCancelAll } from "./cancel-all.js";
import { socketMargin } from "./margin.js";
import { socketOrder } from "./order.js";
import { socketPing } from "./ping.js";
import { socketSession } from "./session.js";
import type { SocketOperation } from "./socket-operation.js";
import { socketSubscribe } from "./subscribe.js";
import { socketUnsubscribe } from "./unsubscribe.js";

export const SOCKET_OPERATIONS: readonly SocketOperation[] = [
  socketSubscribe,
  socketUnsubscribe,
  socketAuth,
  socketSession,
  socketPing,
  socketOrder,
  socketAmend,
  socketCancel,
  socketCancelAll,
  socketBatch,
  socketMargin,
];
