/** A refusal: an error of the error table, as plain data. */

import { ERROR_CODES } from "@perpgate/protocol";
import { enumOf, optional, record, scalars, text, type ValueOf } from "./kinds.js";

export const LINK_REFUSAL = record({
  code: enumOf(ERROR_CODES),
  message: text(65_536),
  field: optional(text(4_096)),
  details: optional(scalars(64)),
});
export type LinkRefusal = ValueOf<typeof LINK_REFUSAL>;
