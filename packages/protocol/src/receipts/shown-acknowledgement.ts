/** Compares an acknowledgement as it was shown with its leaf, which is what is sealed. */

import type { AnswerLeaf } from "../blocks/answer-leaf.js";
import { answerOfLeaf, type SealedAnswer } from "../blocks/sealed-acknowledgement.js";
import { microsPerTickLot, stepOf } from "../numbers/units.js";
import type { ProofMarket } from "./order-proof.js";

/** The acknowledgement of a leaf, as the venue writes it; or why the market's units do not fit it. */
export function sealedAcknowledgement(
  leaf: AnswerLeaf,
  { symbol, tickSize, lotSize }: ProofMarket,
): SealedAnswer | string {
  try {
    const [tick, lot] = [stepOf(tickSize), stepOf(lotSize)];
    const units = { tick, lot, microsPerTickLot: microsPerTickLot(tick, lot) };
    return answerOfLeaf(leaf, { symbol, ...units });
  } catch (error) {
    if (error instanceof RangeError) return `${symbol}: ${error.message}`;
    throw error;
  }
}

interface AckDifference {
  /** Such as `positionAfter.size`. */
  readonly field: string;
  readonly message: string;
}

/** The fields of the shown acknowledgement that are not as they were sealed. */
export function ackDifferences(sealed: SealedAnswer, shown: object): AckDifference[] {
  if (!("positionAfter" in sealed)) return unequal("", sealed, shown);
  const { positionAfter, exits = [], ...plain } = sealed;
  const shownPosition: unknown = Reflect.get(shown, "positionAfter");
  return [
    ...unequal("", plain, shown),
    ...unequal("positionAfter.", positionAfter, Object(shownPosition)),
    ...unequal("", { exits: exitsText(exits) }, { exits: exitsText(Reflect.get(shown, "exits")) }),
  ];
}

function unequal(prefix: string, sealed: object, shown: object): AckDifference[] {
  return Object.entries(sealed).flatMap(([name, value]) => {
    const actual: unknown = Reflect.get(shown, name);
    if (actual === value) return [];
    const field = prefix + name;
    return [{ field, message: `${field} is ${value} in the leaf, ${String(actual)} here` }];
  });
}

/** Their ids and kinds in order; what is missing is none. */
function exitsText(exits: unknown): string {
  if (exits === undefined) return "none";
  if (!Array.isArray(exits)) return "no list";
  const texts = exits.map((exit) => {
    const fields: object = Object(exit);
    return `${Reflect.get(fields, "orderId")} ${Reflect.get(fields, "kind")}`;
  });
  return texts.join(", ") || "none";
}
