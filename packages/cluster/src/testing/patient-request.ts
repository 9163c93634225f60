import type { Msg, NatsConnection } from "@nats-io/transport-node";

const WITHIN_MS = 30_000;

/** As the connection's own, which waits for a second: servers that sync every write may take longer. */
export function request(
  nats: NatsConnection,
  subject: string,
  data?: Uint8Array | string,
): Promise<Msg> {
  return nats.request(subject, data, { timeout: WITHIN_MS });
}
