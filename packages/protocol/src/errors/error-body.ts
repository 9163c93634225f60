/** The body of every non-2xx response. */
import { type Static, Type } from "typebox";

/** The documents of the interface add the list of codes; a client takes any word, for newer servers. */
export const ErrorCodeWord = Type.String({
  title: "ErrorCode",
  description: "A stable word that states the rule.",
});

export const ErrorBody = Type.Object(
  {
    code: ErrorCodeWord,
    message: Type.String({ description: "What to do about it." }),
    requestId: Type.String(),
    field: Type.Optional(Type.String({ description: "The offending field, as a path." })),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { title: "Error" },
);
export type ErrorBody = Static<typeof ErrorBody>;
