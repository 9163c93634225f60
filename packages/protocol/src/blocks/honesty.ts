/** How a venue has kept its promises. */

import { type Static, Type } from "typebox";
import { BlockNumber, Count, Nullable, TimeMs } from "../text/scalar.js";

const Milliseconds = Type.Object(
  { p50: Type.Number(), p99: Type.Number(), max: Type.Number() },
  { title: "Milliseconds" },
);

export const Honesty = Type.Object(
  {
    logKey: Type.String({
      description: "The verifier key of the transparency log: pin it, and compare it.",
    }),
    witnesses: Type.Array(Type.String(), {
      description:
        "The verifier keys of the configured witnesses. A key that you got from the witness proves more.",
    }),
    venueId: Type.String({ description: "SHA-256 of the log's first record, in hex." }),
    issuesReceipts: Type.Boolean(),
    since: Nullable(TimeMs),
    throughBlock: Nullable(BlockNumber),
    issued: Count,
    sealed: Count,
    notKept: Count,
    sealedMs: Nullable(Milliseconds),
    witnessedMs: Nullable(Milliseconds),
    checkpoint: Nullable(
      Type.Object({
        size: Count,
        witnesses: Type.Array(Type.String()),
        cosignedMs: Nullable(Type.Number()),
      }),
    ),
    conflict: Nullable(
      Type.String({ description: "Why no checkpoint is signed any more; null while all is well." }),
    ),
  },
  { title: "Honesty" },
);
export type Honesty = Static<typeof Honesty>;
