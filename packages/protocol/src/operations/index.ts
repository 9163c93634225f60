/** The operations of the REST interface and of the socket, one file each. */

export * from "./operation.js";
export * from "./rest.js";
export * from "./rest-operations.js";
export * from "./socket/amend.js";
export * from "./socket/auth.js";
export * from "./socket/batch.js";
export * from "./socket/cancel.js";
export * from "./socket/cancel-all.js";
export * from "./socket/margin.js";
export * from "./socket/order.js";
export * from "./socket/ping.js";
export * from "./socket/session.js";
export * from "./socket/socket-operation.js";
export * from "./socket/socket-operations.js";
export * from "./socket/subscribe.js";
export * from "./socket/unsubscribe.js";
export * from "./streams/index.js";
