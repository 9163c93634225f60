/** The contract of one stream: its name, who may read it, and the payloads of its frames. */

import { type Static, type TSchema, Type } from "typebox";

import type { StreamName } from "../../streams/streams.js";

export interface StreamChannel {
  /** The first word of the name, and the `t` of its frames. */
  readonly stream: StreamName["stream"];
  /** The name, with its parameters in braces. */
  readonly address: string;
  readonly access: "public" | "bearer";
  readonly summary: string;
  /** By what a frame is called: the schemas of `d`. */
  readonly frames: Readonly<Record<string, TSchema>>;
}

/** A seq is a number here and not text, because a reader compares and counts it. */
export const Seq = Type.Integer({ minimum: 0, description: "The log position of the command." });

export const GapFrame = Type.Object(
  {
    type: Type.Literal("gap"),
    since: {
      ...Seq,
      description: "The position that was asked for: too long ago, or not in this log.",
    },
    seq: { ...Seq, description: "The position at which the stream goes on, with a snapshot." },
  },
  { title: "GapFrame" },
);
export type GapFrame = Static<typeof GapFrame>;

/** `snapshot`: everything open, the first frame without `since`. `update`: what one command changed. */
export const FrameType = Type.Enum(["snapshot", "update"]);
