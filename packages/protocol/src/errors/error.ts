/**
 * An error with a code of the error table, and its wire shape: the body of every non-2xx response.
 *
 * The constructor takes the values that the code's message needs; a missing or misspelt one does not
 * compile. An `ApiError` is an expected outcome, never a fault of the program.
 */

import { shownText } from "../text/shown-text.js";
import type { ErrorBody } from "./error-body.js";
import { ERROR_TABLE, type ErrorCode } from "./error-table.js";

export const ERROR_CODES = Object.keys(ERROR_TABLE).filter(isErrorCode);

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_TABLE, code);
}

type Placeholder<Message extends string> = Message extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;

type FieldsOf<Code extends ErrorCode> = Placeholder<(typeof ERROR_TABLE)[Code]["message"]>;

/** The values that a code's message needs; none for a message without braces. */
export type ErrorValues<Code extends ErrorCode> = Readonly<Record<FieldsOf<Code>, string | number>>;

interface ApiErrorContext {
  readonly field?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

type Values<Code extends ErrorCode> = [FieldsOf<Code>] extends [never]
  ? Readonly<Record<string, never>>
  : ErrorValues<Code>;

/**
 * Maximum characters of one value in a message, and of a field's name. Values may repeat what a client
 * sent, so every code has this bound.
 */
const SHOWN_CHARACTERS = 300;

/** The message of an error that another process has made, with its values filled in. */
export class RelayedMessage {
  constructor(readonly text: string) {}
}

export class ApiError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly field: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(
    readonly code: Code,
    values: Values<Code> | RelayedMessage,
    context: ApiErrorContext = {},
  ) {
    // An answer to a client, not a failure: nobody reads its stack trace, which costs more than all the rest.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(
      values instanceof RelayedMessage ? values.text : fillIn(ERROR_TABLE[code].message, values),
    );
    Error.stackTraceLimit = stackTraceLimit;
    this.status = ERROR_TABLE[code].status;
    this.field =
      context.field === undefined ? undefined : shownText(context.field, SHOWN_CHARACTERS);
    this.details = context.details;
  }

  toBody(requestId: string): ErrorBody {
    return {
      code: this.code,
      message: this.message,
      requestId,
      ...(this.field === undefined ? {} : { field: this.field }),
      ...(this.details === undefined ? {} : { details: this.details }),
    };
  }
}

function fillIn(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    shownText(String(values[name]), SHOWN_CHARACTERS),
  );
}
