/** A user by key: what a server lists, and the client's .creds file. */

import { nkeys } from "@nats-io/transport-node";

export interface KeyedUser {
  /** For `users: [{ nkey: … }]` of the server. */
  readonly nkey: string;
  readonly creds: string;
}

export function newKeyedUser(): KeyedUser {
  const user = nkeys.createUser();
  const seed = Buffer.from(user.getSeed()).toString();
  // A server with a list of keys does not look at the token.
  const parts = ["-----TOKEN-----", "none", "-----END-----", "", "-----SEED-----", seed];
  return { nkey: user.getPublicKey(), creds: [...parts, "-----END-----", ""].join("\n") };
}
